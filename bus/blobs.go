package bus

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
)

// inlineData is how much data travels inside a message; more goes through an
// object store, and the event's dataref is "<bucket>/<sha256>" or
// "<bucket>/<sha256>.<unique>".
const inlineData = 256 << 10

// The object stores. What deciders see is as the agent wrote it, secrets and
// all, so it is kept in memory and deleted when they have answered. What
// handlers see has been redacted and lies on disk as long as its event.
const (
	askedBucket = "asked"
	blobBucket  = "blobs"
)

func bucketConfig(name string) jetstream.ObjectStoreConfig {
	if name == askedBucket {
		return jetstream.ObjectStoreConfig{Bucket: name, Description: "large data of events that are being decided",
			Storage: jetstream.MemoryStorage, TTL: 10 * time.Minute, MaxBytes: 96 << 20}
	}
	return jetstream.ObjectStoreConfig{Bucket: name, Description: "large data of notification events, by SHA-256",
		TTL: 7 * 24 * time.Hour, MaxBytes: 1 << 30}
}

// lendBlob puts data where deciders can fetch it, and returns its reference and
// what to call when they have answered.
func (c *Conn) lendBlob(ctx context.Context, data []byte) (ref string, done func(), err error) {
	store, err := c.blobStore(ctx, askedBucket, true)
	if err != nil {
		return "", nil, err
	}
	// Unique, so that the same data in two gathers is not deleted under one.
	name := hook.Digest(data) + "." + rand.Text()
	if _, err := store.PutBytes(ctx, name, data); err != nil {
		return "", nil, fmt.Errorf("pass on data of %d bytes: %w", len(data), err)
	}
	return askedBucket + "/" + name, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if err := store.Delete(ctx, name); err != nil {
			c.log.Warn("bus: large data was not deleted, it goes by itself in minutes", "error", err)
		}
	}, nil
}

// storeBlob keeps data for handlers and returns its reference.
func (c *Conn) storeBlob(ctx context.Context, data []byte) (string, error) {
	store, err := c.blobStore(ctx, blobBucket, true)
	if err != nil {
		return "", err
	}
	digest := hook.Digest(data)
	if _, err := store.GetInfo(ctx, digest); err == nil {
		return blobBucket + "/" + digest, nil
	}
	if _, err := store.PutBytes(ctx, digest, data); err != nil {
		return "", fmt.Errorf("store data of %d bytes: %w", len(data), err)
	}
	return blobBucket + "/" + digest, nil
}

// fetchBlob reads the data that a reference names and holds it against its
// digest.
func (c *Conn) fetchBlob(ctx context.Context, ref string) ([]byte, error) {
	bucket, name, _ := strings.Cut(ref, "/")
	digest, _, _ := strings.Cut(name, ".")
	if bucket != askedBucket && bucket != blobBucket || len(digest) != 64 {
		return nil, fmt.Errorf("%w: dataref %.80q is none of ours", cloudevent.ErrEvent, ref)
	}
	store, err := c.blobStore(ctx, bucket, false)
	if err != nil {
		return nil, err
	}
	object, err := store.Get(ctx, name)
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

// blobStore opens an object store; the gateway makes it where it is not there.
func (c *Conn) blobStore(ctx context.Context, bucket string, make bool) (jetstream.ObjectStore, error) {
	c.mu.Lock()
	store := c.blobs[bucket]
	c.mu.Unlock()
	if store != nil {
		return store, nil
	}
	store, err := c.js.ObjectStore(ctx, bucket)
	if make && errors.Is(err, jetstream.ErrBucketNotFound) {
		store, err = c.js.CreateObjectStore(ctx, bucketConfig(bucket))
	}
	if err != nil {
		return nil, fmt.Errorf("open the object store %s for large data: %w", bucket, err)
	}
	c.mu.Lock()
	c.blobs[bucket] = store
	c.mu.Unlock()
	return store, nil
}
