import { rm } from 'node:fs/promises';
import { type Api, createApi } from '@parley/server';
import { createPeople, type TestProject } from '../kit/people.ts';
import { newDataDir, type ServerProcess, startProcess } from '../kit/process.ts';

/** Real server processes on one database that can be killed and started again, and a project with a conversation. */
export interface ChatFleet {
  readonly processes: readonly ServerProcess[];
  readonly project: TestProject;
  readonly room: string;
  /** A token of this member of the conversation. */
  tokenOf(userId: string): Promise<string>;
  /** Calls with the API key at one of the processes, whichever number is given. */
  api(place: number): Api;
  url(place: number): string;
  /** Ends a process, with -9 by default, and starts the same again. */
  restart(place: number, signal?: NodeJS.Signals): Promise<void>;
  /** The same processes with an empty conversation. */
  again(): Promise<ChatFleet>;
  stop(): Promise<void>;
}

interface FleetOptions {
  processes: number;
  /** DATABASE_URL and REDIS_URL; embedded without. */
  env?: Record<string, string>;
  /** Further settings of one process. */
  envOf?: (place: number) => Record<string, string>;
  members: readonly string[];
}

const unlimited = '1000000';

const fleetEnv = {
  NODE_ENV: 'production',
  HOST: '127.0.0.1',
  PUBLIC_URL: 'http://localhost:4000',
  SECRET_KEY: 'a key that the processes of this fleet share',
  SFU_REGISTRATION_SECRET: 'a secret that the processes of this fleet share',
  AUTH_REQUIRE_VERIFIED_EMAIL: 'false',
  LOG_LEVEL: 'error',
  CHAT_SEND_RATE_LIMIT: unlimited,
  CHAT_CONNECT_RATE_LIMIT: unlimited,
  CHAT_SUBSCRIBE_RATE_LIMIT: unlimited,
  CHAT_REACT_RATE_LIMIT: unlimited,
  CHAT_EDIT_RATE_LIMIT: unlimited,
  CHAT_DELETE_RATE_LIMIT: unlimited,
  CHAT_READ_RATE_LIMIT: unlimited,
  CHAT_HISTORY_RATE_LIMIT: unlimited,
};

export async function startFleet(options: FleetOptions): Promise<ChatFleet> {
  const { processes: count, env = {}, envOf = () => ({}), members } = options;
  const dataDir = await newDataDir();
  const start = (place: number, port?: number) => {
    const own = { ...envOf(place), ...(port === undefined ? {} : { PORT: String(port) }) };
    const variables: Record<string, string> = { ...fleetEnv, DATA_DIR: dataDir, ...env, ...own };
    return startProcess(variables);
  };
  const processes: ServerProcess[] = [];
  while (processes.length < count) processes.push(await start(processes.length));
  const at = (place: number): ServerProcess => processes[place % count] as ServerProcess;

  const project = await createPeople(at(0).url).newProject();
  let rooms = 0;
  const newRoom = async (): Promise<string> => {
    const body = { name: `storm-${++rooms}`, members: [...members] };
    return (await project.api.call('createConversation', { body })).id;
  };
  const fleet: ChatFleet = {
    processes,
    project,
    room: await newRoom(),
    again: async () => ({ ...fleet, room: await newRoom() }),
    tokenOf: async (userId) => {
      const body = { userId, ttlSeconds: 21_600 };
      return (await createApi({ baseUrl: at(0).url, credential: project.apiKey }).call('mintChatToken', { body }))
        .token;
    },
    url: (place) => at(place).url,
    api: (place) => createApi({ baseUrl: at(place).url, credential: project.apiKey }),
    async restart(place, signal = 'SIGKILL') {
      const old = at(place);
      await old.kill(signal);
      // On the same port: its clients reconnect to the same address.
      processes[place % count] = await start(place % count, old.port);
    },
    async stop() {
      for (const one of processes) await one.kill('SIGKILL');
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  return fleet;
}
