import type { MediaNodePipes } from '@parley/contract/media-control';
import type { Log } from '../../core/log.ts';
import { MediaRefusal } from './control-link.ts';
import type { HostGuard } from './internal-url.ts';
import type { Nodes } from './nodes.ts';

/** Tells nodes of each other, and which rooms they share. */
export interface NodeLinks {
  /** Whether a room of this node may go on at another one. */
  hasPipes(name: string): Promise<boolean>;
  /** The room is on these nodes: each of them hears of the others. One that cannot be told now is told with the next join. */
  link(room: string, names: readonly string[]): Promise<void>;
}

interface NodeLinksDeps {
  log: Log;
  nodes: Nodes;
  guard: HostGuard;
}

/** A node that restarts a process again and again is not followed for ever. */
const roundsMax = 3;

export function createNodeLinks({ log, nodes, guard }: NodeLinksDeps): NodeLinks {
  /** What a node said of its pipes after its hello. */
  const newer = new Map<string, { instanceId: string; pipes: MediaNodePipes }>();

  nodes.onHello((name) => void newer.delete(name));

  /** With an address in place of a name: the nodes send there, and nowhere that we would not. */
  async function pipesOf(name: string): Promise<MediaNodePipes | null> {
    const hello = await nodes.reach(name).catch(() => null);
    if (!hello?.pipes) return null;
    const said = newer.get(name);
    const pipes = said?.instanceId === hello.instanceId ? said.pipes : hello.pipes;
    const [found] = await guard.addressesOf(pipes.host);
    return found ? { ...pipes, host: found.address } : null;
  }

  /** Whether the node has said that its own pipes are others by now. */
  async function tell(name: string, room: string, known: ReadonlyMap<string, MediaNodePipes>): Promise<boolean> {
    const own = known.get(name)?.id ?? '';
    const others = [...known].filter(([other]) => other !== name);
    const nodesOf = others.map(([node, { id }]) => ({ node, pipes: id }));
    const { unknown, pipes } = await nodes.command(name, 'room.link', { room, own, nodes: nodesOf });
    for (const [node, theirs] of others)
      if (unknown.includes(node)) await nodes.command(name, 'node.meet', { node, pipes: theirs });
    if (!pipes) return false;
    newer.set(name, { instanceId: (await nodes.reach(name)).instanceId, pipes });
    return true;
  }

  async function link(room: string, names: readonly string[]): Promise<void> {
    for (let round = 0; round < roundsMax; round++) {
      const found = await Promise.all(
        names.map(async (name) => [name, await pipesOf(name).catch(() => null)] as const),
      );
      const known = new Map(found.flatMap(([name, pipes]) => (pipes ? [[name, pipes] as const] : [])));
      const told = [...known.keys()].map((name) =>
        tell(name, room, known).catch((error: unknown) => {
          // A node where the room has closed, for nobody is there, is told when somebody comes.
          const isGone = error instanceof MediaRefusal && error.code === 'NOT_FOUND';
          if (!isGone) log.warn({ error, server: name, roomId: room }, 'room not linked to its other nodes yet');
          return false;
        }),
      );
      if (!(await Promise.all(told)).includes(true)) return;
    }
  }

  return { link, hasPipes: async (name) => (await pipesOf(name).catch(() => null)) !== null };
}
