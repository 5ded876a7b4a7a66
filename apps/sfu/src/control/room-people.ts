import { Groups } from '../groups.ts';

interface Person {
  identity: string;
  /** The controller that owns them. */
  owner: string;
  /** The process that has them. */
  worker: number;
}

/** The participants of a room in all processes, by id. Neither a join nor an event walks through a crowd. */
export class RoomPeople {
  readonly #byId = new Map<string, Person>();
  readonly #idsOfIdentity = new Groups<string, string>();
  readonly #idsOfOwner = new Groups<string, string>();

  get size(): number {
    return this.#byId.size;
  }

  get(id: string): Person | undefined {
    return this.#byId.get(id);
  }

  /** Somebody of this identity. */
  ofIdentity(identity: string): Person | undefined {
    const [id] = this.#idsOfIdentity.of(identity);
    return id === undefined ? undefined : this.#byId.get(id);
  }

  ofOwner(owner: string): string[] {
    return this.#idsOfOwner.of(owner);
  }

  owners(): Iterable<string> {
    return this.#idsOfOwner.keys();
  }

  values(): Iterable<Person> {
    return this.#byId.values();
  }

  [Symbol.iterator](): Iterator<[id: string, person: Person]> {
    return this.#byId[Symbol.iterator]();
  }

  set(id: string, person: Person): void {
    this.#leaveGroups(id);
    this.#byId.set(id, person);
    this.#idsOfIdentity.add(person.identity, id);
    this.#idsOfOwner.add(person.owner, id);
  }

  delete(id: string): void {
    this.#leaveGroups(id);
    this.#byId.delete(id);
  }

  #leaveGroups(id: string): void {
    const known = this.#byId.get(id);
    if (!known) return;
    this.#idsOfIdentity.delete(known.identity, id);
    this.#idsOfOwner.delete(known.owner, id);
  }
}
