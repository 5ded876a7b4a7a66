import type { Publication } from '../media/publication.ts';
import type { PipePeer } from './pipe-peer.ts';
import type { RemoteTrack, TrackDescription } from './remote-track.ts';

type ChangeEncoding = (from: Publication, to: Publication) => void;

/** A track of another process, and the same in its backup codec while the publisher sends that. */
export class RemotePublication<Owner extends { readonly peer: PipePeer }> {
  readonly track: RemoteTrack;
  readonly owner: Owner;
  #backup: RemoteTrack | undefined;

  constructor(track: RemoteTrack, owner: Owner) {
    this.track = track;
    this.owner = owner;
  }

  get tracks(): RemoteTrack[] {
    return this.#backup ? [this.track, this.#backup] : [this.track];
  }

  /** As its process describes it; undefined: there is none any more. */
  setBackup(description: TrackDescription | undefined, changeEncoding: ChangeEncoding): void {
    if (this.#backup?.number === description?.number) return;
    const { publication } = this.track;
    const before = this.#backup;
    if (before) {
      this.#backup = undefined;
      publication.backup = undefined;
      changeEncoding(before.publication, publication);
      this.owner.peer.removeRemote(before);
    }
    if (!description) return;
    this.#backup = this.owner.peer.addRemote(description);
    publication.backup = this.#backup.publication;
    changeEncoding(publication, publication.backup);
  }
}
