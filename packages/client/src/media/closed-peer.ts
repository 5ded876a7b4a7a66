import { createDeferred, type Deferred } from '../deferred.ts';
import { ConnectionError } from '../errors.ts';

const closings = new WeakMap<RTCPeerConnection, Deferred<never>>();

/** What is under way at a connection that is closed, a browser never settles: here it rejects. */
export function whileOpen<T>(peer: RTCPeerConnection, work: Promise<T>): Promise<T> {
  const closing = closings.get(peer) ?? createDeferred<never>();
  closings.set(peer, closing);
  return Promise.race([work, closing.promise]);
}

export function closePeer(peer: RTCPeerConnection | null): void {
  peer?.close();
  if (peer) closings.get(peer)?.reject(new ConnectionError('client'));
}
