import { randomBytes, randomInt } from 'node:crypto';
import type { DashboardRole, Environment } from '@parley/contract';
import { type Api, createApi } from '@parley/server';
import { createDeclaredApi } from './declared-api.ts';
import { lightFetch } from './light-fetch.ts';

/** A user signed in to the dashboard. */
export interface Person {
  userId: string;
  email: string;
  password: string;
  accessToken: string;
  api: Api;
}

/** A project with its owner and an API key for development. */
export interface TestProject {
  id: string;
  owner: Person;
  apiKey: string;
  /** Calls with the API key. */
  api: Api;
  /** A further key. */
  newKey(environment: Environment): Promise<string>;
  /** A member who has joined with this role. */
  member(role: DashboardRole): Promise<Person>;
}

/** Another address each time: the service believes the test as its proxy, so budgets by address do not mix. */
const someAddress = (): string => `10.${randomInt(256)}.${randomInt(256)}.${randomInt(1, 255)}`;

export interface People {
  newPerson(name?: string): Promise<Person>;
  /** A project of this owner, or of one that several share. */
  newProject(owner?: Person): Promise<TestProject>;
}

/** Makes accounts and projects through the public API. */
export function createPeople(baseUrl: string): People {
  /** Of the 20 that the budget of one user allows: a test that shares its owner may make some more. */
  const keysPerOwner = 6;
  let owner: Promise<Person> | null = null;
  let keysMade = 0;

  async function newPerson(name = 'person'): Promise<Person> {
    const address = someAddress();
    const anonymous = createApi({
      baseUrl,
      fetch: (url, init) => lightFetch(String(url), withHeader(init, 'x-forwarded-for', address)),
    });
    const [email, password] = [
      `${name}-${randomBytes(6).toString('hex')}@example.com`,
      randomBytes(12).toString('hex'),
    ];
    await anonymous.call('register', { body: { email, password } });
    const { accessToken, user } = await anonymous.call('login', { body: { email, password } });
    return {
      userId: user.id,
      email,
      password,
      accessToken,
      api: createDeclaredApi({ baseUrl, credential: accessToken }),
    };
  }

  /** One owner serves several projects: the budget of API keys is by user, and signing up is slow on purpose. */
  function someOwner(): Promise<Person> {
    if (owner === null || keysMade >= keysPerOwner) {
      owner = newPerson('owner');
      keysMade = 0;
    }
    keysMade++;
    return owner;
  }

  async function newProject(owner?: Person): Promise<TestProject> {
    const person = owner ?? (await someOwner());
    const { id } = await person.api.call('createProject', { body: { name: 'Test' } });
    const createKey = async (environment: Environment): Promise<string> =>
      (await person.api.call('createApiKey', { projectId: id, body: { name: 'test', environment } })).key;
    const apiKey = await createKey('DEVELOPMENT');
    return {
      id,
      owner: person,
      apiKey,
      api: createDeclaredApi({ baseUrl, credential: apiKey }),
      newKey(environment) {
        keysMade++;
        return createKey(environment);
      },
      async member(role) {
        const member = await newPerson(role.toLowerCase());
        await person.api.call('addProjectMember', { projectId: id, body: { email: member.email, role } });
        return member;
      },
    };
  }

  return { newPerson, newProject };
}

const withHeader = (init: RequestInit | undefined, name: string, value: string): RequestInit => ({
  ...init,
  headers: { ...(init?.headers as Record<string, string>), [name]: value },
});
