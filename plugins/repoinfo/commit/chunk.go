package commit

// A Chunk is a run of neighbouring commits with the memory they live in. It is
// the unit of work of a walk, so that memory is bounded by chunks in flight.
type Chunk struct {
	Commits []Commit

	arena []byte
	ends  []record
}

type record struct {
	end      int
	position int
	cut      bool
}

// Bounds of a chunk: many small commits or few large ones.
const (
	chunkCommits = 128
	chunkBytes   = 256 << 10
)

// Reset empties the chunk for use again.
func (k *Chunk) Reset() {
	if cap(k.arena) > 4*chunkBytes {
		k.arena = nil // one huge message must not stay for ever
	}
	clear(k.Commits)
	k.Commits, k.arena, k.ends = k.Commits[:0], k.arena[:0], k.ends[:0]
}

// Full reports whether the chunk should be handed on; most is a smaller number
// of commits for the first chunks of an answer.
func (k *Chunk) Full(most int) bool {
	return len(k.ends) >= min(most, chunkCommits) || len(k.arena) >= chunkBytes
}

// Seal makes the commits readable. It returns false when git's output was not
// what it should be.
func (k *Chunk) Seal() bool {
	start := 0
	for _, r := range k.ends {
		c := Commit{Position: r.position, Cut: r.cut}
		if !c.set(k.arena[start:r.end]) {
			return false
		}
		k.Commits = append(k.Commits, c)
		start = r.end
	}
	return true
}

// Keep drops the commits that keep refuses.
func (k *Chunk) Keep(keep func(*Commit) bool) {
	kept := k.Commits[:0]
	for i := range k.Commits {
		if keep(&k.Commits[i]) {
			kept = append(kept, k.Commits[i])
		}
	}
	k.Commits = kept
}
