/** Values in groups, in the order in which they came; a group without values is gone. */
export class Groups<Key, Value> {
  readonly #groups = new Map<Key, Set<Value>>();

  of(key: Key): Value[] {
    return [...(this.#groups.get(key) ?? [])];
  }

  keys(): Iterable<Key> {
    return this.#groups.keys();
  }

  add(key: Key, value: Value): void {
    const group = this.#groups.get(key);
    if (group) group.add(value);
    else this.#groups.set(key, new Set([value]));
  }

  delete(key: Key, value: Value): void {
    const group = this.#groups.get(key);
    if (group?.delete(value) && group.size === 0) this.#groups.delete(key);
  }
}
