/** One call through one network, measured. */
import type { Api } from '@parley/server';
import { type KindName, moveClient, namespaceOf, OPEN } from './namespaces.ts';
import { type BrowserName, type Client, openClient, type Participant, type Trust } from './participants.ts';

export interface Row {
  network: string;
  kind: KindName;
  browser?: BrowserName;
  barMs: number;
  /** The client changes its address in mid-call. */
  moves?: true;
}

export interface Outcome {
  path: string;
  connectedMs: number | null;
  firstPictureMs: number | null;
  isSeen: boolean;
  sees: boolean;
  isHeard: boolean;
  hears: boolean;
  healedMs: number | null;
  log: string[];
}

const PATIENCE_MS = 20_000;
const PICTURES = 3;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function until(check: () => Promise<boolean>): Promise<boolean> {
  for (const startedAt = performance.now(); performance.now() - startedAt < PATIENCE_MS; await sleep(50))
    if (await check()) return true;
  return false;
}

/** Whether pictures move: counted anew on a new transport. */
function pictures(watcher: Participant, of: string): () => Promise<boolean> {
  let last: number | null = null;
  let more = 0;
  return async () => {
    const { framesDecoded: now } = await watcher.view(of);
    more += last === null ? 0 : now >= last ? now - last : now;
    last = now;
    return more >= PICTURES;
  };
}

const bothMove = async (ada: Participant, bob: Participant): Promise<{ sees: boolean; isSeen: boolean }> => {
  const [sees, isSeen] = await Promise.all([until(pictures(ada, 'bob')), until(pictures(bob, 'ada'))]);
  return { sees, isSeen };
};

async function talk(ada: Participant, bob: Participant): Promise<{ isHeard: boolean; hears: boolean }> {
  const hasHeard = (one: Participant, text: string) => until(async () => (await one.heard()).includes(text));
  await ada.say('from ada');
  await bob.say('from bob');
  const [isHeard, hears] = await Promise.all([hasHeard(bob, 'from ada'), hasHeard(ada, 'from bob')]);
  return { isHeard, hears };
}

/** From the change until pictures move both ways again; what was on its way when it happened does not count. */
async function heal(ada: Participant, bob: Participant, kind: KindName): Promise<number | null> {
  const changedAt = performance.now();
  moveClient(kind, 'wlan0');
  await sleep(500);
  const { sees, isSeen } = await bothMove(ada, bob);
  return sees && isSeen ? Math.round(performance.now() - changedAt) : null;
}

export interface Stage {
  api: Api;
  /** In the open network. */
  other: Client;
  trust: Trust;
}

let rooms = 0;

const nothing: Omit<Outcome, 'log'> = {
  path: 'none',
  connectedMs: null,
  firstPictureMs: null,
  isSeen: false,
  sees: false,
  isHeard: false,
  hears: false,
  healedMs: null,
};

/** A call that cannot be made is an outcome too. */
export const measure = (stage: Stage, row: Row): Promise<Outcome> =>
  call(stage, row).catch((error: unknown) => ({ ...nothing, log: [String(error)] }));

async function call({ api, other, trust }: Stage, { kind, browser = 'chromium', moves }: Row): Promise<Outcome> {
  const room = await api.call('createRoom', { body: { name: `${kind}-${++rooms}` } });
  const { id } = await api.call('createConversation', { body: { name: room.name, members: ['ada', 'bob'] } });
  const client = await openClient({ namespace: namespaceOf(kind), browser, api, trust });
  const bob = await other.participant(room, 'bob');
  try {
    await bob.join();
    await bob.setCamera(true);
    await bob.openChat(id);
    const ada = await client.participant(room, 'ada');
    await Promise.all([ada.join(), ada.setCamera(true)]);
    const seen = await bothMove(ada, bob);
    await ada.openChat(id);
    const talked = await talk(ada, bob);
    const [path = 'none'] = await ada.paths();
    const times = { connectedMs: await ada.connectedMs(), firstPictureMs: await ada.firstPictureMs() };
    const healedMs = moves ? await heal(ada, bob, kind) : null;
    if (moves) moveClient(kind, 'wwan0');
    return { path, ...times, ...seen, ...talked, healedMs, log: await ada.log() };
  } finally {
    await bob.page.close();
    await client.close();
  }
}

export const openOther = (api: Api, trust: Trust): Promise<Client> => openClient({ namespace: OPEN, api, trust });
