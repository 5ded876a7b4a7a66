import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';

/** What a name has: addresses, an alias, a failure, or silence. */
export type NameAnswer = readonly string[] | { alias: string } | 'missing' | 'failure' | 'silence';

export interface NameServer {
  /** For `Resolver.setServers`. */
  address: string;
  /** How often each name was asked for, by `name/type`. */
  asked: Map<string, number>;
  /** The answer for a name; a function gets the number of the question, so that it can change its mind. */
  names: Map<string, NameAnswer | ((question: number) => NameAnswer)>;
  close(): Promise<void>;
}

const types = { 1: 'A', 28: 'AAAA' } as const;

/** A name server on loopback that says what the test wants. */
export async function startNameServer(): Promise<NameServer> {
  const socket = createSocket('udp4');
  const names: NameServer['names'] = new Map();
  const asked: NameServer['asked'] = new Map();
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query);
    const key = `${name}/${types[type as keyof typeof types] ?? type}`;
    const count = asked.get(key) ?? 0;
    asked.set(key, count + 1);
    const known = names.get(name) ?? 'missing';
    const answer = typeof known === 'function' ? known(count) : known;
    const reply = answer === 'silence' ? null : replyTo(query.subarray(0, end), type, resolveAlias(names, answer));
    if (reply) socket.send(reply, from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    names,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

interface Resolved {
  alias: string | null;
  addresses: readonly string[];
  code: number;
}

function resolveAlias(names: NameServer['names'], answer: Exclude<NameAnswer, 'silence'>): Resolved {
  if (answer === 'missing') return { alias: null, addresses: [], code: 3 };
  if (answer === 'failure') return { alias: null, addresses: [], code: 2 };
  if (!('alias' in answer)) return { alias: null, addresses: answer, code: 0 };
  const target = names.get(answer.alias);
  return { alias: answer.alias, addresses: Array.isArray(target) ? target : [], code: 0 };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += 1 + length;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function replyTo(question: Buffer, type: number, { alias, addresses, code }: Resolved): Buffer {
  const records: Buffer[] = [];
  if (alias !== null) records.push(record(5, encodeName(alias)));
  for (const address of addresses) {
    if (isIPv6(address) === (type === 28)) records.push(record(type, encodeAddress(address)));
  }
  const header = Buffer.from(question.subarray(0, 12));
  header.writeUInt16BE(0x8180 | code, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, question.subarray(12), ...records]);
}

/** Every record is about the question's own name (a pointer to it); resolvers take the addresses behind an alias so too. */
function record(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

const encodeName = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.from([0]),
  ]);

function encodeAddress(address: string): Buffer {
  if (!isIPv6(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const left = head.split(':').filter(Boolean);
  const right = tail.split(':').filter(Boolean);
  const groups = [...left, ...Array(8 - left.length - right.length).fill('0'), ...right];
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
