package bus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
)

// inlineData is how much data travels inside a message; more goes through the
// object store.
const inlineData = 256 << 10

const blobScheme = "sha256:"

// storeBlob puts data into the object store under its digest and returns the
// reference.
func (c *Conn) storeBlob(ctx context.Context, data []byte) (string, error) {
	store, err := c.blobStore(ctx)
	if err != nil {
		return "", err
	}
	digest := hook.Digest(data)
	if _, err := store.GetInfo(ctx, digest); err == nil {
		return blobScheme + digest, nil
	}
	if _, err := store.PutBytes(ctx, digest, data); err != nil {
		return "", fmt.Errorf("store data of %d bytes: %w", len(data), err)
	}
	return blobScheme + digest, nil
}

// fetchBlob reads the data that a reference names and holds it against its
// digest.
func (c *Conn) fetchBlob(ctx context.Context, ref string) ([]byte, error) {
	digest, ok := strings.CutPrefix(ref, blobScheme)
	if !ok || len(digest) != 64 {
		return nil, fmt.Errorf("%w: dataref %.80q is not sha256:<64 hex digits>", cloudevent.ErrEvent, ref)
	}
	store, err := c.blobStore(ctx)
	if err != nil {
		return nil, err
	}
	object, err := store.Get(ctx, digest)
	if err != nil {
		return nil, fmt.Errorf("fetch data %.20s…: %w", ref, err)
	}
	defer func() { _ = object.Close() }()
	data, err := io.ReadAll(io.LimitReader(object, cloudevent.MaxData+1))
	if err != nil {
		return nil, fmt.Errorf("fetch data %.20s…: %w", ref, err)
	}
	if hook.Digest(data) != digest {
		return nil, fmt.Errorf("%w: data %.20s… does not have its digest", cloudevent.ErrEvent, ref)
	}
	return data, nil
}

func (c *Conn) blobStore(ctx context.Context) (jetstream.ObjectStore, error) {
	c.mu.Lock()
	store := c.blobs
	c.mu.Unlock()
	if store != nil {
		return store, nil
	}
	store, err := c.js.ObjectStore(ctx, blobBucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		store, err = c.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{
			Bucket: blobBucket, Description: "event data that is too large to travel, by SHA-256", TTL: 7 * 24 * time.Hour, MaxBytes: 1 << 30,
		})
	}
	if err != nil {
		return nil, fmt.Errorf("open the object store for large data: %w", err)
	}
	c.mu.Lock()
	c.blobs = store
	c.mu.Unlock()
	return store, nil
}
