import type { Answer } from './ratio.ts';

/** One benchmark file each, with the text that the report shows. */
export interface Question {
  title: string;
  /** What each side is and does. */
  peers: string;
  load: () => Promise<{ rows: () => Promise<Answer[]> }>;
}

export const questions: Record<string, Question> = {
  'api-start': {
    title: 'Start',
    peers:
      'No peer. `node apps/server/src/main.ts` on the embedded database until `/readyz` answers 200; best of 3 folders.',
    load: () => import('./api-start.ts'),
  },
  'mint-offline': {
    title: 'Minting tokens offline',
    peers: 'No peer: `mintRtcToken` and `mintChatToken` of the server SDK in one process, by its CPU time.',
    load: () => import('./mint-offline.ts'),
  },
  'chat-send': {
    title: 'Sending a message',
    peers:
      'Ours is the whole service over HTTP: key, limits, idempotency, counters, outbox, fan-out. **Bare Fastify** is the same route with one `pg` insert a request and nothing else (**key check + insert** also looks the key up); **no database** is our own route, its key check, limits and validation included, that answers at once with a record made up on the spot. All over the same load generator in a process of its own, 256 connections with one request each at a time; what fewer connections give stands beside.',
    load: () => import('./chat-send.ts'),
  },
  'chat-lone': {
    title: 'A message while little happens',
    peers:
      'Far from the peak no batch has anything to gather, and each message pays for everything: most deployments live there. The **bare server** takes a frame over `ws`, commits one `pg` insert and writes one answer and ten frames as long as ours; **bare PGlite** is one insert a message into a folder, without a socket. All at an even rate from a process of its own, by CPU time of server and database, in turns of four seconds, five of each: the ratio is the median of the pairs, and both sides are those of that pair.',
    load: () => import('./chat-lone.ts'),
  },
  'chat-first-minute': {
    title: 'The first minute on the embedded database',
    peers:
      'No peer: a server that was just started on its folder, two hundred members who each listen to one conversation, and an even rate of messages that waits for no answer.',
    load: () => import('./chat-first-minute.ts'),
  },
  'chat-half-peak': {
    title: 'Sending at half of the peak',
    peers:
      'No peer: two hundred members who each listen to one conversation send the next message when the last is stored, which gives the peak; then all together half as much, at an even rate that waits for no answer.',
    load: () => import('./chat-half-peak.ts'),
  },
  'chat-history': {
    title: 'Reading history',
    peers:
      'The **raw query** asks a bare `pg` pool for the columns that a message is made of, fifty rows of objects, without HTTP, authentication, cursors or JSON text; **only the stored JSON** is the same for the one column that we send (ADR 0071). The other rows compare us with ourselves at another depth of a conversation of a million messages.',
    load: () => import('./chat-history.ts'),
  },
  'chat-search': {
    title: 'Searching messages',
    peers:
      'Ourselves: 240 different searches (rare and common words, beginnings, several words, one conversation) over a million messages of eleven words, one after the other, by an API key and by a user of a hundred conversations. Sends of different texts for 12 s at a time, in turns: while the terms of messages are written, and while nobody writes them.',
    load: () => import('./chat-search.ts'),
  },
  'chat-ejabberd': {
    title: 'Group chat beside ejabberd',
    peers:
      '**ejabberd** is the one of the system’s package: rooms (MUC) with their archive (MAM) on the same PostgreSQL with the same settings. Both store every message, deliver it to ten members of its room and are asked for the newest page; CPU is that of the server and of its database sessions. Where it is not installed the table says what was not run.',
    load: () => import('./chat-ejabberd.ts'),
  },
  'bus-notify': {
    title: 'NOTIFY instead of Redis',
    peers:
      'Not ours: what a bus on PostgreSQL’s LISTEN and NOTIFY would give a fleet without Redis (ADR 0225). Each writer commits a row and waits until three sessions have heard of it, by NOTIFY in the same statement, or by PUBLISH to Redis after the commit.',
    load: () => import('./bus-notify.ts'),
  },
  'chat-processes': {
    title: 'Three processes instead of one',
    peers:
      'Ourselves with one process and with three, on cores that the database, Redis and the clients use too: what is measured here is the price, not the gain, of more processes. The clients spread their connections over the processes themselves, and no balancer stands between on either side. By CPU of all three processes, of their database sessions and of Redis; both sides are those of the pair whose ratio is the median. What a message costs a process where nobody hears it is what that process spends in some seconds with messages less what it spends in as many without, before and after. Such a difference is near zero and lost in the noise, so what is stated is not the median of its eleven rounds but a bound that the median is below (sign test, ADR 246).',
    load: () => import('./chat-processes.ts'),
  },
  'chat-conversations': {
    title: 'Many conversations',
    peers:
      'Ourselves: the same questions to a project with a hundred conversations and to one with a hundred thousand.',
    load: () => import('./chat-conversations.ts'),
  },
  'chat-hot': {
    title: 'A hot conversation',
    peers:
      'Ourselves: writers who each send the next message when the last is stored, over HTTP to one process, all in one conversation or spread over a hundred. The order of a conversation is kept by its row, which one batch locks at a time.',
    load: () => import('./chat-hot.ts'),
  },
  'chat-idle': {
    title: 'Idle sockets',
    peers:
      'Ten thousand chat sockets with heartbeats and presence on one process, in three windows of half a minute. **Bare ws** is a server of the same package that answers the same heartbeats of as many sockets, without presence, limits or a database.',
    load: () => import('./chat-idle.ts'),
  },
  'chat-reconnect': {
    title: 'Everybody comes back at once',
    peers: 'No peer: five thousand sockets that lose their connection, or their server, under traffic.',
    load: () => import('./chat-reconnect.ts'),
  },
  'chat-inbox': {
    title: 'Inboxes that are followed',
    peers:
      'Ourselves on the same sockets, in turns: a thousand members of one conversation, each subscribed to it, who follow their inboxes as well, and who do not. CPU is that of the server and of its database sessions.',
    load: () => import('./chat-inbox.ts'),
  },
  'chat-large-inbox': {
    title: 'The inbox of a user in ten thousand conversations',
    peers:
      'Ourselves: one user is in 20 conversations where people write, another in the same 20 and in 10,000 more, each with somebody else and an unread message. Once those are dormant, both are asked for in turns, one request at a time; then the SDK follows the one inbox and the other, in turns.',
    load: () => import('./chat-large-inbox.ts'),
  },
  'socket-fan-out': {
    title: 'Fan-out to sockets',
    peers:
      'Deliveries per second of the sender’s CPU, readers in another process. **Bare sockets** are TCP sockets that get one prebuilt frame with one `write` each: no encoding, no queue, no accounting. **socket.io** 4.8.4 (its default adapter, WebSocket only, no compression) emits the same event to a room.',
    load: () => import('./socket-fan-out.ts'),
  },
  'chat-fan-out': {
    title: 'A large conversation',
    peers:
      'Five hundred in one conversation, one message at a time: the next is sent when everybody has the last. Ours is the whole product, over its socket: limits, the store on PostgreSQL, the outbox, the answer. **Bare sockets** write one frame of the same length to each TCP socket and do nothing else; **socket.io** 4.8.4 emits to a room. By CPU of the server, readers in another process. Who writes to a reader that sleeps pays for waking it, so it is said how often readers went to sleep, and one row asks the same even rate of all three.',
    load: () => import('./chat-fan-out.ts'),
  },
  'stalled-socket': {
    title: 'A reader that stalls',
    peers: 'No peer: the other 999 sockets of one conversation with and without a reader that stops reading, in turns.',
    load: () => import('./stalled-socket.ts'),
  },
  'webhook-queue': {
    title: 'The webhook queue',
    peers:
      'Claim and complete on PostgreSQL in batches of the same size, the next batch claimed while the last is recorded. The **raw loop** is the least that a SKIP LOCKED queue can do: one table, two statements, no fairness, no attempt log, no counting of failures. **pg-boss** 12.30.0 is a job queue on PostgreSQL for Node: its `fetch` and `complete`, without its housekeeping.',
    load: () => import('./webhook-queue.ts'),
  },
  'webhook-delivery': {
    title: 'Delivering webhooks',
    peers: 'No peer: delay from event to receiver, and what an endpoint that hangs does to senders and to others.',
    load: () => import('./webhook-delivery.ts'),
  },
  'sfu-forwarding': {
    title: 'Forwarding media',
    peers:
      'One publisher and N subscribers over DTLS-SRTP, packets received per CPU-second of the forwarding process. **The library alone** is a process with the same DTLS-SRTP library that writes another ssrc into each packet and sends it on, and does nothing else. **Janus** is the one of the system’s package, its video room; where it is not installed the table says what was not run.',
    load: () => import('./sfu-forwarding.ts'),
  },
  'sfu-pipes': {
    title: 'A room over two media processes',
    peers:
      'No peer: one publisher and 150 subscribers over DTLS-SRTP, so many that one process is near the 60 % at which a room is spread, in one media process, in two, and as two rooms of half the size in two processes without a pipe, by turns; CPU time of all media processes together.',
    load: () => import('./sfu-pipes.ts'),
  },
  'request-log': {
    title: 'The log of requests',
    peers: 'No peer: a cheap route over HTTP on the embedded database, by turns with the log of requests on and off.',
    load: () => import('./request-log.ts'),
  },
  observability: {
    title: 'Looking back at calls',
    peers: 'No peer: what the dashboard asks for, over a million connection events on PostgreSQL, by HTTP.',
    load: () => import('./observability.ts'),
  },
};
