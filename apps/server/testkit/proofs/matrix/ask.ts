import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { codesOf, errors } from '@parley/contract';
import type { RoomsService } from '../../clients/rooms.ts';
import { lightFetch } from '../../kit/light-fetch.ts';
import type { TestService } from '../../kit/service.ts';
import { createRequests, type Sent } from './requests.ts';
import type { Ids, Route } from './table.ts';

export interface Answer {
  status: number;
  code: string | null;
  /** The body without what differs from one request to the next. */
  rest: string;
}

export interface Asker {
  /** Asks, waits out its budget, and checks what every answer promises. Sends what the row accepts by default. */
  ask(route: Route, ids: Ids, bearer: string, sent?: Sent): Promise<Answer>;
  /** How many were asked so far. */
  asked(): number;
}

export function createAsker(service: TestService, node: RoomsService['node']): Asker {
  const requestOf = createRequests(node);
  let asked = 0;

  async function ask(route: Route, ids: Ids, bearer: string, sent?: Sent): Promise<Answer> {
    const path = route.path.replaceAll(/\{(\w+)\}/g, (_, param: string) => encodeURIComponent(idIn(ids, param)));
    asked += 1;
    for (;;) {
      const response = await fetchAs(path, route, sent ?? requestOf(route), bearer);
      if (response.status !== 429) return read(route, path, response);
      await response.body?.cancel();
      await sleep(100);
    }
  }

  const fetchAs = (path: string, { method, row }: Route, { query, contentType, body }: Sent, bearer: string) =>
    (row.streams === undefined ? lightFetch : fetch)(`${service.url}${path}${query}`, {
      method,
      headers: {
        ...(bearer === '' ? {} : { authorization: `Bearer ${bearer}` }),
        ...(contentType === undefined ? {} : { 'content-type': contentType }),
      },
      ...(body === undefined ? {} : { body }),
    });

  return { ask, asked: () => asked };
}

function idIn(ids: Ids, param: string): string {
  const id = ids[param];
  assert.ok(id, `no ${param}`);
  return id;
}

async function read({ row, method }: Route, path: string, response: Response): Promise<Answer> {
  const { status } = response;
  if (row.streams !== undefined && response.ok) {
    await response.body?.cancel();
    return { status, code: null, rest: '' };
  }
  const text = await response.text();
  const label = `${method} ${path} → ${status} ${text.slice(0, 300)}`;
  if (status < 400) {
    const [made, , found] = row.returns;
    assert.ok(status === made || status === found, `not the declared success: ${label}`);
    return { status, code: null, rest: text };
  }
  const { requestId, path: said, ...rest } = JSON.parse(text) as Record<string, string>;
  assert.equal(requestId, response.headers.get('x-request-id'), label);
  assert.equal(said, path, label);
  const code = Object.keys(errors).find((one) => one === rest['code']) as keyof typeof errors | undefined;
  assert.ok(code, label);
  // Any credential may be dead in its own way on any route.
  if (status !== 401) assert.ok(codesOf(row).includes(code), `not declared: ${label}`);
  return { status, code, rest: JSON.stringify(rest) };
}
