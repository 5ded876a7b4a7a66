import type {
  MediaCommandName,
  MediaCommands,
  MediaEventFrame,
  MediaPermissions,
} from '@parley/contract/media-control';
import type { ExtensionName } from '@parley/media-description';
import type { Page } from 'playwright-core';
import { fullRateCamera, openSite, type Site } from '../../../e2e/browser.ts';
import type { ControlClient } from './control-client.ts';
import { startTestNode, type TestNode } from './node.ts';
import type { PageClient } from './page-client.ts';
import { everything } from './permissions.ts';

declare global {
  interface Window {
    client: PageClient;
    command(type: string, data: unknown): Promise<unknown>;
  }
}

export const SIMULCAST: RTCRtpEncodingParameters[] = [
  { rid: 'q', scaleResolutionDownBy: 4, maxBitrate: 150_000 },
  { rid: 'h', scaleResolutionDownBy: 2, maxBitrate: 500_000 },
  { rid: 'f', maxBitrate: 1_700_000 },
];

/** One browser page that takes part in a room, and its events at the control plane. */
export interface Caller {
  id: string;
  page: Page;
  /** When it was added to the room, by the clock of the machine. */
  addedAt: number;
  events: MediaEventFrame[];
  command<Name extends MediaCommandName>(
    type: Name,
    data: Omit<MediaCommands[Name]['request'], 'room' | 'participant'>,
  ): Promise<MediaCommands[Name]['response']>;
  inbound(kind: 'audio' | 'video'): Promise<Record<string, number>>;
}

export interface CallKit {
  node: TestNode;
  control: ControlClient;
  room: string;
  join(
    id: string,
    permissions?: MediaPermissions,
    extra?: { autoSubscribe?: boolean; adaptiveStream?: boolean; lacks?: ExtensionName[]; site?: Site },
  ): Promise<Caller>;
  close(): Promise<void>;
}

/** What a page needs to take part in a call. */
export const callModules: Record<string, URL> = {
  '@parley/media-description': new URL('../../../packages/media-description/src/index.ts', import.meta.url),
  'page-client': new URL('./page-client.ts', import.meta.url),
};

/** A node, a browser and the few lines of signaling between them. */
export async function startCall(variables: Record<string, string> = {}): Promise<CallKit> {
  const node = await startTestNode(variables);
  const site = await openSite({ args: [fullRateCamera], modules: callModules });
  const room = 'room_test';
  const callers = new Map<string, Caller>();
  const control = await node.connect({ onEvent: (frame) => relay(callers, frame) });
  await control.command('room.open', { room });

  return {
    node,
    control,
    room,
    async join(
      id,
      permissions = everything,
      { autoSubscribe = true, adaptiveStream = false, lacks = [], site: own = site } = {},
    ) {
      const page = await own.newPage();
      const caller: Caller = {
        id,
        page,
        addedAt: 0,
        events: [],
        // The address completes what `Omit` took out.
        command: (type, data) => control.command(type, { room, participant: id, ...data } as never),
        async inbound(kind) {
          const reports = await page.evaluate(() => window.client.inbound());
          return (reports.find((report) => report['kind'] === kind) ?? {}) as Record<string, number>;
        },
      };
      await page.exposeFunction('command', (type: MediaCommandName, data: object) =>
        control.command(type, { room, participant: id, ...data } as never),
      );
      await page.evaluate(async (missing) => {
        const name = 'page-client';
        const { PageClient } = await import(name);
        window.client = new PageClient(window.command, missing);
      }, lacks);
      callers.set(id, caller);
      caller.addedAt = performance.timeOrigin + performance.now();
      await control.command('participant.add', {
        room,
        participant: id,
        identity: id,
        permissions,
        autoSubscribe,
        adaptiveStream,
      });
      return caller;
    },
    async close() {
      await site.close();
      await node.stop();
    },
  };
}

function relay(callers: ReadonlyMap<string, Caller>, frame: MediaEventFrame): void {
  const caller = 'participant' in frame.data ? callers.get(frame.data.participant) : undefined;
  if (!caller) return;
  caller.events.push(frame);
  // A page that is closing rejects what is still on its way.
  const quiet = () => {};
  if (frame.type === 'sub.offer')
    caller.page.evaluate((offer) => window.client.onOffer(offer), frame.data).catch(quiet);
  if (frame.type === 'publish.quality')
    caller.page.evaluate(({ trackId, layers }) => window.client.onQuality(trackId, layers), frame.data).catch(quiet);
}
