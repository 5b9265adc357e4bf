// Package audit is a node's audit log: every event and what became of it,
// append-only, on disk before anybody is answered, and kept so that a change
// made afterwards is found.
//
// # Use
//
// [Open] the log with its [Key], [Log.Append] a [hook.Record] for each event,
// [Log.Close] it. There is one writer at a time, held by a lock. [OpenReader]
// reads and searches, also beside the writer and in other processes; [Verify]
// checks everything; [Reader.Prove] makes a proof about one record that
// [CheckProof] checks without the log.
//
// # What Append promises
//
// Append returns an index once the record is durable in the file at the
// segment's path, checked after the write. Everyone who waits at the same time
// shares one write and one sync (group commit). On any error the record is not
// in the log, with one exception that says so, [ErrUncertain]. Indexes are
// dense and in the order in which records were taken. A full disk, a removed
// file or a disk that does not answer is an error to everyone who waits and
// turns [Log.Health] red; the log tries again with the next record and once a
// second, and is green only after a write has worked.
//
// # What is found, and what is not
//
// The records are the leaves of a Merkle tree (RFC 6962); its root is signed
// at least every second and every 256 records, and on closing. Who changes,
// swaps, inserts or deletes anything without the key is found, and the place is
// named. Who has the key and write access can make another log from nothing:
// only a [Checkpoint] kept elsewhere shows that. Records behind the last
// checkpoint, at most a second's worth, can be cut off like a crash does it.
//
// # Secrets and redaction
//
// Payload and envelope go through [redact.Redactor] before they are written.
// The tree holds envelopes, and an envelope holds no content but
// HMAC-SHA256(salt, payload) with 32 random bytes of salt. [Log.Redact]
// overwrites payload and salt with zeros and records that it did: every
// proof stays valid, and what was deleted cannot be guessed from what is left.
// (A file system that copies on write, a snapshot or a backup can keep what
// was overwritten; nothing here can reach that.)
//
// # Files
//
// All numbers in binary are big endian.
//
//	lock           empty; locked by the writer
//	checkpoints    signed notes, each followed by one empty line
//	segments/N.seg records; N is the index of the first, 20 digits
//	segments/N.off derived: 4 bytes for each record of N.seg, its offset
//	hashes         derived: 32 bytes for each hash of the tree
//	index.sqlite   derived: the search index
//
// What is derived lags behind, is not synced, and can be deleted.
//
// A segment begins with the line "grapnel audit segment 1 first N\n", N in 20
// digits. Records follow, each
//
//	"GRec"
//	4 bytes   length of the leaf, 1 to 4096
//	4 bytes   length of the payload, 1 to 25165824
//	8 bytes   index of the first record of the same commit
//	4 bytes   CRC-32C of the 20 bytes above and the leaf
//	leaf      the envelope ([Envelope]), JSON
//	32 bytes  salt
//	payload   ([Payload]), JSON; salt and payload are all zero when redacted
//
// and after the last one zeros may follow. A leaf begins with
//
//	{"v":1,"index":7,"logged":"2026-01-02T03:04:05.000000006Z","kind":
//
// and ends with
//
//	"payload":"<HMAC-SHA256(salt, payload), 64 hex digits>"}
//
// The leaf's hash is SHA-256(0x00 || leaf), a node's SHA-256(0x01 || left ||
// right); the file hashes has them in the order of
// [golang.org/x/mod/sumdb/tlog.StoredHashIndex].
//
// A checkpoint is a C2SP checkpoint: the origin (the key's name), the number
// of records, the root in base64, an empty line, and an Ed25519 signature line
// as [golang.org/x/mod/sumdb/note] has it. The first one is over the empty log.
// A proof is a C2SP .tlog-proof with the leaf as its extra data.
//
// To verify: read the records in order, check that each leaf has its index,
// that the payload has the HMAC in the leaf or is all zero, and, for those,
// that a leaf of kind "redaction" has the index as its "target"; build the
// tree; compare the root at the size of each checkpoint, whose signature was
// checked.
//
// # Concurrency
//
// All methods of [Log] and [Reader] may be called from many goroutines. Nothing
// that is passed in is kept, and what is returned belongs to the caller.
package audit
