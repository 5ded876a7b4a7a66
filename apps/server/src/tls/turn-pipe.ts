import type { Socket } from 'node:net';

/** A connection to a media node's TURN server on behalf of a client; null when there is none to be had. */
export type OpenTurnPipe = (client: { address: string; port: number }) => Promise<Socket | null>;

/** An allocation is refreshed at least every ten minutes (RFC 8656), so a pipe without a byte for longer is dead. */
const silentMsMax = 15 * 60_000;

/** Carries bytes both ways, at the pace of the slower side, until either ends; then neither is left. */
export function joinSockets(client: Socket, node: Socket): void {
  for (const [from, to] of [
    [client, node],
    [node, client],
  ] as const) {
    from.on('error', () => from.destroy());
    from.setTimeout(silentMsMax, () => from.destroy());
    from.pipe(to);
    // Neither stays half open; what is on its way is still written.
    from.once('end', () => from.destroySoon());
    from.once('close', () => to.destroySoon());
  }
  if (client.destroyed) node.destroy();
}
