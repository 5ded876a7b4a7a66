import { stopAtWorkerEnd } from '../../server/testkit/kit/worker-life.ts';
import { endPeers } from './rtp-peer.ts';

let isSaid = false;

/** Ends the library of the peers with its test worker: the next file begins new ones, and it does not survive its own end. */
export function endPeersAtWorkerEnd(): void {
  if (isSaid) return;
  isSaid = true;
  stopAtWorkerEnd({ stop: async () => endPeers() });
}
