package dialect

import "strings"

// Bounds of what a scanner knows of a path. Anything deeper, and any longer
// key, is scanned but matches nothing.
const (
	maxPath   = 8  // keys
	maxKey    = 40 // bytes of a key
	maxRawKey = 6 * maxKey
)

// anyItem is what a path has in place of an array's index.
const anyItem = "*"

// A path is where in a JSON text a value stands: the keys of the objects
// around it, outermost first, and anyItem for arrays.
type path struct {
	depth int
	keys  [maxPath]pathKey
}

type pathKey struct {
	isItem bool // of an array, which has no key
	size   int  // -1: longer than maxKey
	text   [maxKey]byte
}

func (k *pathKey) is(segment string) bool {
	if k.isItem || k.size < 0 {
		return k.isItem && segment == anyItem
	}
	return string(k.text[:k.size]) == segment
}

// enter begins an object or array, the depth-th.
func (p *path) enter(depth int, kind valueKind) {
	if depth > maxPath {
		return
	}
	p.keys[depth-1].isItem = kind == jsonArray
	p.keys[depth-1].size = 0
}

// setKey sets the key of the depth-th object.
func (p *path) setKey(depth int, text *textBuffer) {
	if depth > maxPath {
		return
	}
	key := &p.keys[depth-1]
	key.size = -1
	if !text.cut && len(text.bytes) <= maxKey {
		key.size = copy(key.text[:], text.bytes)
	}
}

// is reports whether the path is the given one, written with points:
// "usage.prompt_tokens", "error.details.*.reason". A key with a point in it
// matches nothing.
func (p *path) is(want string) bool { return p.below(0, want) }

// isInAny is is for texts that may be an array of what is looked for.
func (p *path) isInAny(want string) bool {
	if p.depth > 0 && p.keys[0].isItem {
		return p.below(1, want)
	}
	return p.below(0, want)
}

func (p *path) below(from int, want string) bool {
	for i := from; i < p.depth; i++ {
		segment, rest, more := strings.Cut(want, ".")
		isLast := i == p.depth-1
		if more == isLast || !p.keys[i].is(segment) {
			return false
		}
		want = rest
	}
	return p.depth > from
}
