import { setImmediate as turn } from 'node:timers/promises';
import { fail, ServiceError } from '@parley/contract';
import type { MediaCommandName, MediaCommands, MediaEventFrame } from '@parley/contract/media-control';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Metrics } from '../../core/metrics.ts';
import { type ControlLink, type LinkDeps, LinkFault, MediaRefusal, type NodeHello, openLink } from './control-link.ts';
import type { StoredServer } from './server-store.ts';

/** This process's control connections, one a node: opened when first needed, kept while the node lives. */
export interface Nodes {
  /** Connects if need be; SVC_MEDIA_UNAVAILABLE when that fails. */
  reach(name: string): Promise<NodeHello>;
  /** Runs a command; what the node refuses is a MediaRefusal. */
  command<N extends MediaCommandName>(
    name: string,
    type: N,
    data: MediaCommands[N]['request'],
  ): Promise<MediaCommands[N]['response']>;
  /** Whether it answers in this time, asked twice; one that does not is left alone for a moment. */
  answers(name: string, withinMs: number): Promise<boolean>;
  onEvent(listener: (name: string, frame: MediaEventFrame) => void): void;
  /** Each time a connection is made: by `hello` one sees whether anything was missed, or everything is gone. */
  onHello(listener: (name: string, hello: NodeHello) => void): void;
  /** Cuts connections that have gone silent. */
  tick(): void;
  close(): void;
}

interface Node {
  link: ControlLink | null;
  opening: Promise<ControlLink> | null;
  lastSeq: number | null;
  /** Faults in a row, and until when it is left alone for the last of them. */
  faults: number;
  heldUntil: number;
}

interface NodesDeps extends LinkDeps {
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** The node's row when it is registered and not past its heartbeat timeout. */
  findLive: (name: string) => Promise<StoredServer | undefined>;
}

const silentMs = 30_000;
const retryDelaysMs = [0, 300, 1_000, 2_000, 5_000];
/** After a fault, which will likely happen again: longer each time, until a connection lasted. */
const holdsMs = [1_000, 2_000, 5_000, 10_000, 30_000];
const soundMs = 60_000;
/** Nobody who joins waits for a node that did not answer just now. */
const unresponsiveHoldMs = 3_000;
/** A connection that broke may be back by the second question. */
const askAgainMs = 300;
const stepOf = (steps: readonly number[], index: number): number => steps[Math.min(index, steps.length - 1)] ?? 0;

export function createNodes(deps: NodesDeps): Nodes {
  const { clock, log, metrics, findLive } = deps;
  const nodes = new Map<string, Node>();
  const eventListeners: ((name: string, frame: MediaEventFrame) => void)[] = [];
  const helloListeners: ((name: string, hello: NodeHello) => void)[] = [];
  const closing = new AbortController();

  function nodeOf(name: string): Node {
    const known = nodes.get(name);
    if (known) return known;
    const node: Node = { link: null, opening: null, lastSeq: null, faults: 0, heldUntil: 0 };
    nodes.set(name, node);
    return node;
  }

  /** A node that breaks the protocol is left alone for a while: neither it nor its log line may keep us busy. */
  function hold(name: string, node: Node, fault: LinkFault): void {
    const heldMs = stepOf(holdsMs, node.faults);
    node.faults += 1;
    node.heldUntil = clock.elapsed() + heldMs;
    metrics.count('parley_media_link_faults_total');
    log.warn({ error: fault, server: name, retryInMs: heldMs }, 'control connection to a media node closed');
  }

  /** What a listener throws ends neither the connection nor the process. */
  function emit(name: string, frame: MediaEventFrame): void {
    for (const listener of eventListeners) {
      try {
        listener(name, frame);
      } catch (error) {
        log.error({ error, server: name, event: frame.type }, 'event of a media node not handled');
      }
    }
  }

  async function open(name: string, node: Node): Promise<ControlLink> {
    const server = (await findLive(name)) ?? fail('SVC_MEDIA_UNAVAILABLE', { retryAfterSeconds: 5 });
    const openedAt = clock.elapsed();
    const link = await openLink(
      deps,
      { name, internalUrl: server.internalUrl, since: node.lastSeq },
      {
        onHello({ resumed, seq }) {
          if (!resumed) node.lastSeq = seq;
        },
        onEvent(frame) {
          node.lastSeq = frame.seq;
          if (frame.type !== null) emit(name, frame);
        },
        onClose(fault) {
          node.link = null;
          if (clock.elapsed() - openedAt > soundMs) node.faults = 0;
          if (fault) hold(name, node, fault);
          if (!closing.signal.aborted) void reopen(name);
        },
      },
    );
    if (closing.signal.aborted) link.close();
    node.link = link;
    for (const listener of helloListeners) listener(name, link.hello);
    return link;
  }

  async function linkTo(name: string): Promise<ControlLink> {
    const node = nodeOf(name);
    if (node.link) return node.link;
    if (clock.elapsed() < node.heldUntil) fail('SVC_MEDIA_UNAVAILABLE', { retryAfterSeconds: 5 });
    node.opening ??= open(name, node)
      .catch((error: unknown) => {
        if (error instanceof LinkFault) hold(name, node, error);
        throw error;
      })
      .finally(() => {
        node.opening = null;
      });
    try {
      return await node.opening;
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      if (!(error instanceof LinkFault)) log.warn({ error, server: name }, 'media node not reachable');
      return fail('SVC_MEDIA_UNAVAILABLE', { retryAfterSeconds: 5 });
    }
  }

  /** Participants of ours may be on the node: tries until it is back or counts as dead. */
  async function reopen(name: string): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const heldMs = nodeOf(name).heldUntil - clock.elapsed();
      await clock.sleep(Math.max(stepOf(retryDelaysMs, attempt), heldMs), closing.signal);
      if (closing.signal.aborted || nodeOf(name).link) return;
      try {
        await linkTo(name);
        return;
      } catch {
        if (
          await findLive(name).then(
            (server) => server === undefined,
            () => false,
          )
        ) {
          nodes.delete(name);
          return;
        }
      }
    }
  }

  async function isHeard(name: string, withinMs: number): Promise<boolean> {
    const asked = linkTo(name).then((link) => link.command('ping', {}));
    // After a busy moment of ours the answer may lie unread: it is read between the timer and the immediate.
    const late = clock.sleep(withinMs, closing.signal).then(() => turn(false));
    return Promise.race([
      asked.then(
        () => true,
        () => false,
      ),
      late,
    ]);
  }

  async function answers(name: string, withinMs: number): Promise<boolean> {
    if (await isHeard(name, withinMs)) return true;
    await clock.sleep(askAgainMs, closing.signal);
    if (await isHeard(name, withinMs)) return true;
    const node = nodeOf(name);
    node.heldUntil = Math.max(node.heldUntil, clock.elapsed() + unresponsiveHoldMs);
    node.link?.close();
    return false;
  }

  return {
    reach: async (name) => (await linkTo(name)).hello,
    command: async (name, type, data) => (await linkTo(name)).command(type, data),
    answers,
    onEvent: (listener) => void eventListeners.push(listener),
    onHello: (listener) => void helloListeners.push(listener),
    tick() {
      for (const { link } of nodes.values()) if (link && clock.elapsed() - link.heardAt > silentMs) link.close();
    },
    close() {
      closing.abort();
      for (const { link } of nodes.values()) link?.close();
    },
  };
}

/** A node's refusal in the words of the contract; `forbidden` says what was not allowed. */
export function asServiceError(
  error: unknown,
  forbidden:
    | 'SVC_JOIN_NOT_ALLOWED'
    | 'SVC_PUBLISH_NOT_ALLOWED'
    | 'SVC_SUBSCRIBE_NOT_ALLOWED'
    | 'SVC_DATA_NOT_ALLOWED'
    | 'SVC_FORBIDDEN',
): unknown {
  if (!(error instanceof MediaRefusal)) return error;
  const { code, message } = error;
  switch (code) {
    case 'FORBIDDEN':
      return new ServiceError(forbidden);
    case 'NOT_FOUND':
      return new ServiceError('SVC_TRACK_NOT_FOUND', { message });
    case 'BAD_REQUEST':
    case 'BAD_DESCRIPTION':
    case 'STALE':
      return new ServiceError('SVC_BAD_REQUEST', { message });
    case 'DRAINING':
    case 'FULL':
      return new ServiceError('SVC_NO_MEDIA_SERVER', { retryAfterSeconds: 2 });
    case 'RATE_LIMITED':
      return new ServiceError('SVC_RATE_LIMITED', { retryAfterSeconds: 1 });
    case 'INTERNAL':
      return new ServiceError('SVC_MEDIA_ERROR', { retryAfterSeconds: 2 });
  }
}
