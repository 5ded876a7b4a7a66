/** Child process: members of group chats who keep sending and count what reaches them. Parley and XMPP are counted alike. */
import { connect, type Socket } from 'node:net';
import { clientFrame, seen, upgrade } from './raw-websocket.ts';

type MembersOrder =
  | { open: Group }
  | { run: Run }
  | { hear: number }
  /** Counts from now on; `heard` gives the count once it is as much as expected, or after so long without. */
  | { listen: true }
  | { heard: { expected: number; settleMs: number } }
  | { page: Page };

interface Group {
  protocol: 'parley' | 'xmpp';
  /** Several are taken in turns by the members. */
  port: number | number[];
  /** Each with the rooms they hear; known by a token, or in XMPP by a name. */
  members: { name: string; rooms: string[] }[];
}

/** Everybody keeps some messages under way until the time is over, to each of their rooms in turn. */
interface Run {
  ms: number;
  inFlight: number;
  text: string;
}

/** The newest messages of a room, asked for again and again by the first member. */
interface Page {
  room: string;
  count: number;
  ms: number;
}

export interface Turnover {
  storedPerSecond: number;
  delivered: number;
}

export interface Heard {
  heard: number;
}

interface Protocol {
  join(port: number, member: Group['members'][number]): Promise<Socket>;
  message(room: string, text: string): string | Buffer;
  /** Once in everything that brings a message. */
  delivery: string;
  /** Text that occurs once in the frame that acknowledges a message to its sender. */
  stored: (place: number) => string;
}

const heartbeatMs = 15_000;

/** Distinguished from the others by the start of the text. */
const signed = (place: number): string => `by-${place}.`;

const protocols: Record<Group['protocol'], Protocol> = {
  parley: {
    async join(port, { name, rooms }) {
      const socket = upgrade(port, `/v1/chat/ws?token=${name}`);
      await seen(socket, '"hello"');
      const conversations = rooms.map((ref) => ({ ref, presence: false }));
      socket.write(clientFrame(JSON.stringify({ type: 'subscribe', id: 's', conversations })));
      await seen(socket, '"ref":"s"');
      // A member that only listens would count as gone.
      setInterval(() => socket.write(clientFrame('{"type":"ping"}')), heartbeatMs).unref();
      return socket;
    },
    message: (conversation, text) => clientFrame(JSON.stringify({ type: 'message.send', id: 'm', conversation, text })),
    delivery: '{"type":"message",',
    stored: () => '{"type":"ack",',
  },
  xmpp: {
    async join(port, { name, rooms }) {
      const socket = connect(port, '127.0.0.1');
      socket.setNoDelay(true);
      const say = async (stanza: string, answer: string): Promise<void> => {
        const answered = seen(socket, answer);
        socket.write(stanza);
        await answered;
      };
      const stream = `<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' to='localhost' version='1.0'>`;
      await say(stream, '</stream:features>');
      await say(`<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='ANONYMOUS'/>`, '<success');
      await say(stream, '</stream:features>');
      await say(`<iq type='set' id='b'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>`, '<jid>');
      for (const room of rooms) {
        const x = `<x xmlns='http://jabber.org/protocol/muc'><history maxstanzas='0'/></x>`;
        await say(`<presence to='${room}/${name}'>${x}</presence>`, '<subject');
      }
      return socket;
    },
    message: (room, text) => `<message type='groupchat' to='${room}' id='m'><body>${text}</body></message>`,
    delivery: '</body>',
    stored: signed,
  },
};

let group: Group;
let sockets: Socket[] = [];

async function open(asked: Group): Promise<object> {
  group = asked;
  sockets = [];
  const ports = [group.port].flat();
  for (const [at, member] of group.members.entries())
    sockets.push(await protocols[group.protocol].join(ports[at % ports.length] ?? 0, member));
  return {};
}

/** Counts marks in a stream, also those that come in two pieces. */
function counter(mark: string): (chunk: Buffer) => number {
  const bytes = Buffer.from(mark);
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const whole = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let [count, after] = [0, 0];
    for (let at = whole.indexOf(bytes); at >= 0; at = whole.indexOf(bytes, after)) {
      count++;
      after = at + bytes.length;
    }
    rest = whole.subarray(Math.max(after, whole.length - bytes.length + 1));
    return count;
  };
}

/** Ends when every message has reached every member. */
async function run({ ms, inFlight, text }: Run): Promise<Turnover> {
  const { message, delivery, stored } = protocols[group.protocol];
  const started = performance.now();
  const listeners = new Map<string, number>();
  for (const { rooms } of group.members) for (const room of rooms) listeners.set(room, (listeners.get(room) ?? 0) + 1);
  let [sent, delivered, expected] = [0, 0, 0];
  await new Promise<void>((resolve, reject) => {
    for (const [place, socket] of sockets.entries()) {
      const rooms = group.members[place]?.rooms ?? [];
      const send = (): void => {
        const room = rooms[sent++ % rooms.length] ?? '';
        expected += listeners.get(room) ?? 0;
        socket.write(message(room, signed(place) + text));
      };
      const [deliveries, own] = [counter(delivery), counter(stored(place))];
      socket.removeAllListeners('data');
      socket.once('close', () => reject(new Error('a member was thrown out')));
      socket.on('data', (chunk) => {
        delivered += deliveries(chunk);
        const isOver = performance.now() - started >= ms;
        for (let left = own(chunk); left > 0 && !isOver; left--) send();
        if (isOver && delivered >= expected) resolve();
      });
      for (let at = 0; at < inFlight; at++) send();
    }
  });
  return { storedPerSecond: (sent / (performance.now() - started)) * 1000, delivered };
}

let count = 0;

/** Counts the messages that reach the members, of any sender. */
async function listen(): Promise<object> {
  count = 0;
  for (const socket of sockets) {
    const deliveries = counter(protocols[group.protocol].delivery);
    socket.removeAllListeners('data');
    socket.on('data', (chunk) => {
      count += deliveries(chunk);
    });
  }
  return {};
}

/** Those that come within this time. */
async function hear(ms: number): Promise<Heard> {
  await listen();
  await new Promise((resolve) => setTimeout(resolve, ms));
  return { heard: count };
}

async function heard({ expected, settleMs }: { expected: number; settleMs: number }): Promise<Heard> {
  const deadline = performance.now() + settleMs;
  while (count < expected && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
  return { heard: count };
}

/** Milliseconds of the middle answer: a page of a room's archive over XMPP. */
async function page({ room, count, ms }: Page): Promise<object> {
  const [socket] = sockets;
  if (!socket) throw new Error('no member is connected');
  socket.removeAllListeners('data');
  const times: number[] = [];
  const started = performance.now();
  while (performance.now() - started < ms) {
    const asked = performance.now();
    const set = `<set xmlns='http://jabber.org/protocol/rsm'><max>${count}</max><before/></set>`;
    const answered = seen(socket, '</fin></iq>');
    socket.write(`<iq type='set' to='${room}' id='p'><query xmlns='urn:xmpp:mam:2'>${set}</query></iq>`);
    await answered;
    times.push(performance.now() - asked);
  }
  times.sort((a, b) => a - b);
  return { p50Ms: times[times.length >> 1] ?? 0 };
}

function answer(order: MembersOrder): Promise<object> {
  if ('open' in order) return open(order.open);
  if ('hear' in order) return hear(order.hear);
  if ('listen' in order) return listen();
  if ('heard' in order) return heard(order.heard);
  if ('page' in order) return page(order.page);
  return run(order.run);
}

process.on('message', (order: MembersOrder) => {
  answer(order).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
