// Hands OpenCode's hooks to grapnel and does what it answers. This file was
// written by `grapnel install opencode`; what is changed here will be lost.
import { spawn } from "node:child_process"

const command = COMMAND // the event's name is added
const told = new Set([
  "session.created",
  "permission.asked",
  "permission.replied",
  "file.edited",
  "session.error",
  "session.idle",
  "session.compacted",
  "session.deleted",
])
const patience = 30_000 // milliseconds; grapnel itself answers sooner

// start runs the hook program without a shell and gives it one JSON object.
function start(event, payload, stdio) {
  const text = JSON.stringify({ hook_event_name: event, ...payload })
  const child = spawn(command[0], [...command.slice(1), event], { stdio: ["pipe", stdio, stdio], windowsHide: true })
  child.stdin.on("error", () => {}) // it need not read all
  child.stdin.end(text)
  return child
}

// tell starts the hook program and does not wait.
function tell(event, payload) {
  try {
    const child = start(event, payload, "ignore")
    const timer = setTimeout(() => child.kill("SIGKILL"), patience)
    timer.unref()
    child.unref()
    child.on("error", () => clearTimeout(timer))
    child.on("exit", () => clearTimeout(timer))
  } catch {} // nobody asked
}

// answer waits for the hook program and what it says.
function answer(event, payload) {
  return new Promise((resolve, reject) => {
    const child = start(event, payload, "pipe")
    const out = []
    const err = []
    const timer = setTimeout(() => {
      child.kill("SIGKILL")
      reject(new Error("no answer in time"))
    }, patience)
    child.stdout.on("data", (piece) => out.push(piece))
    child.stderr.on("data", (piece) => err.push(piece))
    child.on("error", (error) => {
      clearTimeout(timer)
      reject(new Error(error.code ?? "it did not start"))
    })
    child.on("close", (code) => {
      clearTimeout(timer)
      resolve({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString().trim() })
    })
  })
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value)

// ask returns an answer that is no deny. It throws on a deny and on what it
// cannot read, and OpenCode then does not go on.
async function ask(event, payload) {
  let result
  let said
  try {
    result = await answer(event, payload)
    said = JSON.parse(result.stdout)
  } catch (error) {
    if (result?.code !== 2) throw new Error(`grapnel: ${command[0]} gave no answer to ${event}, so this was not done: ${error.message}`)
  }
  const known = isObject(said) && Object.keys(said).every((key) => key === "output")
  if (result.code === 0 && known) return said
  const no = result.code === 2 || said?.decision === "block"
  if (!no) throw new Error(`grapnel: the answer of ${command[0]} to ${event} cannot be read, so this was not done`)
  throw new Error(said?.reason || result.stderr || "grapnel denied this and gave no reason")
}

// replace puts new arguments in the place of a tool's own. OpenCode keeps the
// object, so it is changed and not exchanged.
function replace(args, changed) {
  if (!isObject(args) || !isObject(changed)) throw new Error("grapnel: the changed arguments cannot be handed over, so this was not done")
  for (const key of Object.keys(args)) delete args[key]
  Object.assign(args, changed)
}

// short leaves of an attachment what it is.
const short = (part) => (part.url?.startsWith("data:") ? { ...part, url: part.url.slice(0, part.url.indexOf(",") + 1) } : part)

export const Grapnel = async ({ directory }) => {
  const about = (id, session, rest) => ({ id, session_id: session, cwd: directory, ...rest })
  const message = async (event, id, input, output) => {
    const said = await ask(event, about(id, input.sessionID, { input, output: { ...output, parts: output.parts.map(short) } }))
    if (said.output !== undefined) throw new Error("grapnel: a message cannot be changed, so it was not sent")
  }
  return {
    event: async ({ event }) => {
      const p = event.properties
      if (told.has(event.type)) tell(event.type, about(event.id, p?.sessionID ?? p?.info?.id, { input: { event } }))
    },
    "chat.message": (input, output) => message("chat.message", output.message.id, input, output),
    "command.execute.before": (input, output) => message("command.execute.before", undefined, input, output),
    "tool.execute.before": async (input, output) => {
      const said = await ask("tool.execute.before", about(input.callID, input.sessionID, { input, output }))
      if (said.output !== undefined) replace(output.args, said.output?.args)
    },
    "tool.execute.after": async (input, output) => {
      tell("tool.execute.after", about(input.callID, input.sessionID, { input, output }))
    },
    "experimental.session.compacting": async (input, output) => {
      tell("experimental.session.compacting", about(undefined, input.sessionID, { input, output }))
    },
  }
}
