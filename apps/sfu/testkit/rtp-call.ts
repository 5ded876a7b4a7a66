import type { MediaEventFrame, MediaRequests } from '@parley/contract/media-control';
import type { Description } from '@parley/media-description';
import type { ControlClient } from './control-client.ts';
import { everything } from './permissions.ts';
import { RtpPeer } from './rtp-peer.ts';

type AddExtra = Partial<Pick<MediaRequests['participant.add'], 'permissions' | 'streamStates'>>;

/** Participants that are RTP peers: a call without browsers. */
export class RtpCall {
  readonly #control: ControlClient;
  readonly #room: string;
  readonly #subscribers = new Map<string, RtpPeer>();

  constructor(control: ControlClient, room: string) {
    this.#control = control;
    this.#room = room;
  }

  add(identity: string, autoSubscribe = true, extra: AddExtra = {}) {
    return this.#control.command('participant.add', {
      room: this.#room,
      participant: `ps_${identity}`,
      identity,
      permissions: everything,
      autoSubscribe,
      ...extra,
    });
  }

  /** Joins, and answers the node's offers from now on. */
  async subscribe(identity: string, extra: AddExtra = {}): Promise<RtpPeer> {
    const peer = new RtpPeer(identity);
    this.#subscribers.set(`ps_${identity}`, peer);
    await this.add(identity, true, extra);
    return peer;
  }

  /** Publishes one VP8 video, with a second SSRC to be repeated by RTX; its track. */
  async publish(identity: string, peer: RtpPeer, ssrc: number, rtxSsrc?: number): Promise<string> {
    const { tracks, description } = await this.#control.command('pub.offer', {
      room: this.#room,
      participant: `ps_${identity}`,
      tracks: [{ cid: 'video', kind: 'VIDEO', source: 'CAMERA' }],
      description: peer.offer('video', ssrc, rtxSsrc),
    });
    peer.accept(description as Description);
    return tracks[0]?.trackId ?? '';
  }

  /** Give it every event of the node. */
  onEvent(frame: MediaEventFrame): void {
    if (frame.type !== 'sub.offer' || frame.data.room !== this.#room) return;
    const { participant, revision, description } = frame.data;
    const peer = this.#subscribers.get(participant);
    if (!peer) return;
    const offer = description as Description;
    const answer = offer.ice ? peer.answer(offer) : { media: [] };
    const answered = { room: this.#room, participant, revision, description: answer };
    // Who has left meanwhile needs none.
    this.#control.command('sub.answer', answered).catch(() => {});
  }

  close(): void {
    for (const peer of this.#subscribers.values()) peer.close();
  }
}
