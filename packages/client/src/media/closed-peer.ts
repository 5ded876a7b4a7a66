import { createDeferred, type Deferred } from '../deferred.ts';
import { ConnectionError } from '../errors.ts';

const closings = new WeakMap<RTCPeerConnection, Deferred<never>>();

function closingOf(peer: RTCPeerConnection): Deferred<never> {
  const closing = closings.get(peer) ?? createDeferred<never>();
  if (!closings.has(peer)) closing.promise.catch(() => {});
  closings.set(peer, closing);
  return closing;
}

/** What is under way at a connection that is closed, a browser never settles: here it rejects. */
export const whileOpen = <T>(peer: RTCPeerConnection, work: Promise<T>): Promise<T> =>
  Promise.race([work, closingOf(peer).promise]);

export function closePeer(peer: RTCPeerConnection): void {
  peer.close();
  closingOf(peer).reject(new ConnectionError('client'));
}
