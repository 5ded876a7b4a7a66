import type { MediaNodePipes } from '@parley/contract/media-control';
import type { Log } from '../../core/log.ts';
import { MediaRefusal } from './control-link.ts';
import type { HostGuard } from './internal-url.ts';
import type { Nodes } from './nodes.ts';

/** Tells nodes of each other, and which rooms they share. */
export interface NodeLinks {
  /** Whether a room of this node may go on at another one. */
  hasPipes(name: string): Promise<boolean>;
  /**
   * The room is on these nodes: each of them hears of the others. One that cannot be told now is told with the next
   * join. Returns which of them have refused to be linked: no media goes between those.
   */
  link(room: string, names: readonly string[]): Promise<RefusedLink[]>;
}

/** A node that has no place for the pipes of another (FULL), or may not open them a second time (STALE). */
interface RefusedLink {
  node: string;
  other: string;
}

interface Told {
  isNewer: boolean;
  refused: RefusedLink[];
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

  /** Null when it has met the other. */
  async function meet(name: string, other: string, pipes: MediaNodePipes): Promise<RefusedLink | null> {
    try {
      await nodes.command(name, 'node.meet', { node: other, pipes });
      return null;
    } catch (error) {
      if (!(error instanceof MediaRefusal)) throw error;
      log.warn({ error, server: name, other }, 'node refuses pipes to another');
      return { node: name, other };
    }
  }

  /** `isNewer`: the node has said that its own pipes are others by now. */
  async function tell(name: string, room: string, known: ReadonlyMap<string, MediaNodePipes>): Promise<Told> {
    const own = known.get(name)?.id ?? '';
    const others = [...known].filter(([other]) => other !== name);
    const nodesOf = others.map(([node, { id }]) => ({ node, pipes: id }));
    const { unknown, pipes } = await nodes.command(name, 'room.link', { room, own, nodes: nodesOf });
    const refused: RefusedLink[] = [];
    for (const [node, theirs] of others) {
      const refusal = unknown.includes(node) ? await meet(name, node, theirs) : null;
      if (refusal) refused.push(refusal);
    }
    if (pipes) newer.set(name, { instanceId: (await nodes.reach(name)).instanceId, pipes });
    return { isNewer: pipes !== undefined, refused };
  }

  async function link(room: string, names: readonly string[]): Promise<RefusedLink[]> {
    let refused: RefusedLink[] = [];
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
          return { isNewer: false, refused: [] };
        }),
      );
      const answers = await Promise.all(told);
      refused = answers.flatMap((answer) => answer.refused);
      if (!answers.some(({ isNewer }) => isNewer)) break;
    }
    return refused;
  }

  return { link, hasPipes: async (name) => (await pipesOf(name).catch(() => null)) !== null };
}
