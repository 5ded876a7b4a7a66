/** Guides for those who write a client without our SDK: words of ours, every fact that is in a table from the table. */
import { readFileSync } from 'node:fs';
import {
  type ClientFrameRow,
  chatClientFrames,
  chatServerFrames,
  closeCodes,
  commonClientFrames,
  limitRows,
  type Reaction,
  resumeWindowMs,
  roomEventTypes,
  type ServerFrameRow,
  signalingClientFrames,
  signalingHeartbeatIntervalMs,
  signalingHeartbeatTimeoutMs,
  signalingServerFrames,
} from '@parley/contract';
import { createSchemaNames } from '@parley/contract/schema-names';
import {
  CODEC_RATES,
  DATA_CHANNELS,
  DATA_MESSAGE_BYTES_MAX,
  DEFAULT_EXTENSIONS,
  EXTENSION_URIS,
  type ExtensionName,
} from '@parley/media-description';
import { SCHEDULE_MS } from '../packages/client/src/reconnect.ts';
import { code, header, type SchemaParts, table, typeText } from './reference-pages.ts';

const seconds = (ms: number): string => `${ms / 1000} s`;
const limit = (name: keyof typeof limitRows): string => `${limitRows[name].default} ${limitRows[name].unit}`;
const python = (path: string): string =>
  `<!-- include examples/python/${path} -->\n\`\`\`python\n${readFileSync(`examples/python/${path}`, 'utf8')}\`\`\`\n`;

/** What a frame carries, with the records it uses by name; `used` collects them. */
function createShapes(ownNames: readonly (readonly [SchemaParts, string])[] = []) {
  const nameOf = createSchemaNames();
  const own = new Map(ownNames.map(([schema, name]) => [JSON.stringify(schema), name]));
  const used = new Map<string, SchemaParts>();

  const fieldsOf = ({ properties = {}, required = [] }: SchemaParts): string =>
    Object.entries(properties)
      .map(([name, part]) => `${code(name)}${required.includes(name) ? '' : '?'} ${shapeOf(part)}`)
      .join(', ');

  function shapeOf(schema: SchemaParts): string {
    const given = own.get(JSON.stringify(schema));
    if (given !== undefined) return given;
    if (schema.type === 'array' && schema.items)
      return schema.items.anyOf ? `(${shapeOf(schema.items)})[]` : `${shapeOf(schema.items)}[]`;
    if (schema.anyOf) return schema.anyOf.map(shapeOf).join(' or ');
    if (!schema.properties) return typeText(schema);
    const name = nameOf(schema);
    if (name === undefined) return `{ ${fieldsOf(schema)} }`;
    used.set(name, schema);
    return name;
  }

  /** Those that were used, and those that they use. */
  function records(): string {
    const rows: string[][] = [];
    for (const [name, schema] of used) rows.push([name, fieldsOf(schema)]);
    return table(['Record', 'Fields'], rows);
  }

  return { shapeOf, fieldsOf, records };
}
type Shapes = ReturnType<typeof createShapes>;

function clientTable(rows: Record<string, ClientFrameRow>, { shapeOf, fieldsOf }: Shapes): string {
  const all: [string, ClientFrameRow][] = Object.entries({ ...rows, ...commonClientFrames });
  const hasBudgets = all.some(([, { budget }]) => budget !== undefined);
  return table(
    ['Frame', 'Carries', '`data` of the answer', ...(hasBudgets ? ['Budget'] : []), 'Does'],
    all.map(([name, row]) => [
      code(name),
      fieldsOf(row.data as SchemaParts),
      row.replies ? shapeOf(row.replies as SchemaParts) : '',
      ...(hasBudgets ? [row.budget ? `${limitRows[row.budget].default} (${code(row.budget)})` : ''] : []),
      row.does,
    ]),
  );
}

const serverTable = (rows: Record<string, ServerFrameRow>, { fieldsOf }: Shapes): string =>
  table(
    ['Frame', 'Carries', 'When'],
    Object.entries(rows).map(([name, row]) => [code(name), fieldsOf(row.data as SchemaParts), row.when]),
  );

const reactions: Readonly<Record<Reaction, string>> = {
  stop: 'do not come back by yourself',
  reconnect: 'reconnect',
  resume: 'reconnect, and go on where you were',
  renewToken:
    'get a fresh token and reconnect at once; stop when the fresh one is refused too, or when the reason is `TOKEN_REVOKED`',
  wait: 'the reason says `RATE_LIMITED; retryAfter=<seconds>`: reconnect after that, and up to 10 s more by chance',
  elsewhere: 'reconnect: another process answers',
};

const closing = (): string => `## Close codes

Before a close that is your fault an \`error\` frame with \`fatal: true\` says why. After a code that is not here, and when the network ended the connection, reconnect.

${table(
  ['Code', 'Means', 'What to do'],
  Object.entries(closeCodes).map(([number, { meaning, client }]) => [number, meaning, reactions[client]]),
)}
Wait ${SCHEDULE_MS.map((ms) => ms / 1000).join(', ')} s before the first, second and later attempts, each 20 % more or less by chance, and begin anew after a connection that held for a minute. More haste meets the budget for connections.
`;

interface Socket {
  path: string;
  subprotocol: string;
  token: string;
  minting: string;
  answer: string;
  bytes: string;
}

const connecting = ({ path, subprotocol, token, minting, answer, bytes }: Socket): string => `## Connect

Your backend mints the token with its API key (${minting}); a client never has the key. Open a WebSocket at \`wss://<your host>${path}\` and give the token as a subprotocol, next to the protocol's name: \`Sec-WebSocket-Protocol: ${subprotocol}, bearer.<token>\`. The server chooses \`${subprotocol}\`. Other ways are \`?token=\` in the address (it ends up in logs; for tools only) and a first frame within 5 s (\`${token}\`). A token that is refused does not fail the handshake: an \`error\` frame comes, then close code 4401.

Frames are JSON objects in text messages, with a \`type\` and at most ${bytes}. Give a frame an \`id\` of your choice (1 to 64 characters) and it is answered exactly once:

\`\`\`json
{ "type": "${answer}", "ref": "<your id>", "data": { } }
\`\`\`

or, when it is refused, with a code of the [table of errors](error-codes.md):

\`\`\`json
{ "type": "error", "ref": "<your id>", "code": "VALIDATION_FAILED", "svcCode": "SVC_VALIDATION_FAILED", "message": "…", "retryable": false }
\`\`\`

\`data\` is left out where the table below has none. A frame without an \`id\` is answered only by errors. Frames of one connection are handled one after the other. Ignore frames and fields that you do not know.

`;

const heartbeat = (interval: string, timeout: string): string => `## Heartbeat

The client sends it, the server only listens: after \`heartbeatTimeoutMs\` of \`hello\` (${timeout}) without anything from you it closes with 4408. Send \`{ "type": "ping" }\` every \`heartbeatIntervalMs\` (${interval}) or oftener; it costs no budget, and any other frame, or a ping of the WebSocket itself, counts as well. The \`pong\` is for you: without one for longer than an interval the connection is dead, even if your system has not noticed; close it and reconnect.

`;

export function chatGuide(): string {
  const shapes = createShapes();
  const client = clientTable(chatClientFrames, shapes);
  const server = serverTable(chatServerFrames, shapes);
  const ttl = limitRows.CHAT_PRESENCE_TTL_SECONDS.default;
  const socket = {
    path: '/v1/chat/ws',
    subprotocol: 'svc.chat.v1',
    token: 'auth',
    minting: '`POST /v1/chat/tokens`; the answer has `token` and `websocketUrl`',
    answer: 'ack',
    bytes: limit('CHAT_MAX_FRAME_BYTES'),
  };
  return `${header('Chat protocol')}For clients that do not use our SDK: the WebSocket at \`/v1/chat/ws\`, protocol \`svc.chat.v1\`. A complete client in Python is at the end; the suite runs it.

${connecting(socket)}${heartbeat(seconds((ttl / 3) * 1000), seconds(ttl * 1000))}## Follow a conversation

After \`hello\`, subscribe. \`ref\` is what you call the conversation: its id, its uuid, its name or the id of its room.

\`\`\`json
{ "type": "subscribe", "id": "1", "conversations": [{ "ref": "standup" }] }
\`\`\`

The \`ack\` has one entry for each, in the same order, by the same \`ref\`:

\`\`\`json
{ "type": "ack", "ref": "1", "data": { "conversations": [
  { "ref": "standup", "conversationId": "conv_…", "change": 41, "epoch": "k3Jd9sQx", "latestCursor": "…", "recovered": false, "unreadCount": 2 },
  { "ref": "secret", "code": "NOT_A_MEMBER", "svcCode": "SVC_NOT_A_MEMBER" }
] } }
\`\`\`

An entry with \`svcCode\` was refused, the others stand. Frames name a conversation by \`conversationId\`, whatever you called it. \`presence: false\` in an entry of \`subscribe\` follows without being shown as present. To show what was before, read \`history\` (newest first; \`before\` with the \`nextCursor\` of the page goes back).

## Miss nothing, repeat nothing

Every visible change of a conversation (a message, an edit, a reaction, a member…) has a number, \`change\`: 1, 2, 3 and so on, without gaps. Keep the number of the last one that you have shown, and the \`epoch\` of the \`ack\`: an epoch says in which life of the database the numbers were given, and another one means that they started anew, as after a restored backup.

1. Start at the \`change\` of the first \`ack\`.
2. Take a live frame if its \`change\` is the next one. Drop one that you have. One that is further ahead means a gap: keep it, ask \`{ "type": "changes", "conversation": "standup", "since": <your last> }\`, and show its \`changes\` first. Each of them is like its live frame, without \`conversationId\` and \`ts\`. The page covers everything up to its \`change\`; ask again while \`complete\` is false.
3. After a lost connection subscribe with \`since\` (your last number) and \`epoch\`. With \`recovered: true\` in the \`ack\` what you missed follows at once in \`recovered\` frames, which cover everything up to \`to\`; then come live frames. If the last of them has \`complete: false\`, read the rest by \`changes\`.
4. With \`recovered: false\` and the same \`epoch\` the gap is long: read it by \`changes\`, or read \`history\` and go on from the \`change\` of the \`ack\`. With another \`epoch\` only the latter is right.

## Send

\`\`\`json
{ "type": "message.send", "id": "7", "conversation": "standup", "text": "Hello", "clientMessageId": "0d3c…" }
\`\`\`

The \`ack\` has the stored \`message\`. Your own message also comes as a \`message\` frame with its \`change\`, before or after the \`ack\`. Without an answer, send the frame again after you are subscribed again, with the same \`clientMessageId\`: it is stored once. A refusal with \`retryable: true\` says in \`retryAfterSeconds\` when to try again; any other will be refused again.

## The token's end

A minute before it \`token.expiring\` comes: get a fresh token of the same user from your backend and send it in \`token.refresh\`. The connection goes on; without it, it ends with 4401. \`reconnect\` announces that the process stops: close and reconnect after \`afterMs\`, or wait for 4503.

## What a client sends

${client}
Budgets are requests in each window of ${limitRows.RATE_LIMIT_WINDOW_SECONDS.default} s, for the user over all their connections, and over REST too.

## What the server sends

${server}
## Records

${shapes.records()}
${closing()}
## A client in Python

The part that both sockets share, \`parley_socket.py\`:

${python('parley_socket.py')}
And the chat, \`chat_client.py\`:

${python('chat_client.py')}`;
}

export function signalingGuide(): string {
  const { publish } = signalingClientFrames;
  const shapes = createShapes([
    [publish.data.properties.description as SchemaParts, 'Description'],
    [publish.replies.properties.description as SchemaParts, 'Description'],
  ]);
  const client = clientTable(signalingClientFrames, shapes);
  const server = serverTable(signalingServerFrames, shapes);
  const socket = {
    path: '/v1/rtc/signal',
    subprotocol: 'svc.rtc.v1',
    token: 'join',
    minting: '`POST /v1/rooms/{room}/rtc-tokens`; the answer has `token` and `signalingUrl`',
    answer: 'response',
    bytes: limit('SIGNALING_MAX_MESSAGE_BYTES'),
  };
  return `${header('Signaling protocol')}For clients that do not use our SDK: the WebSocket at \`/v1/rtc/signal\`, protocol \`svc.rtc.v1\`. Descriptions are compact JSON instead of SDP. A complete client in Python is at the end; the suite runs it. To only publish, or only watch, WHIP and WHEP are simpler: one \`POST\` of an SDP offer to \`/v1/rooms/{room}/whip\` or \`/whep\` with the token as Bearer.

${connecting(socket)}A connection may send ${limit('SIGNALING_MAX_MESSAGES_PER_WINDOW')} in each window of ${limitRows.RATE_LIMIT_WINDOW_SECONDS.default} s, and an address may open ${limit('SIGNALING_MAX_CONNECTIONS_PER_WINDOW')}.

${heartbeat(seconds(signalingHeartbeatIntervalMs), seconds(signalingHeartbeatTimeoutMs))}${firstPicture()}${descriptions()}${laterOn()}## What a client sends

${client}
## What the server sends

${server}
## Records

${shapes.records()}
${closing()}
## A client in Python

Three files. The part that both sockets share, \`parley_socket.py\`, is in the [chat protocol](protocol-chat.md). Between SDP and descriptions, \`media_description.py\`:

${python('media_description.py')}
And the call, \`call_client.py\`:

${python('call_client.py')}`;
}

const firstPicture = (): string => `## From the socket to the first picture

A call has two peer connections: one for everything you send, which you offer, and one for everything you receive, which the media node offers.

### 1. Join

\`hello\` comes when the token was accepted. Join, with an id of your own for this stay, which the dashboard shows:

\`\`\`json
{ "type": "join", "id": "1", "connectionId": "5f0c…", "autoSubscribe": true }
\`\`\`

\`joined\` comes, then the \`response\`. It has your \`participant\`, the others in \`participants\` with their \`tracks\` (while \`more\` is true the list goes on in \`joined.more\`), the \`iceServers\` for both peer connections, and \`sessionId\`, \`resumeToken\` and \`seq\`, which you keep. Leave \`adaptiveStream\` out unless you send \`track.settings\`: with it a video that has none comes in its lowest layer.

A round trip is saved by sending this frame with the upgrade request, as \`?first=<the JSON, percent-encoded>\` in the address: \`hello\` then has \`"first": true\`. Without that the server is an older one: send the frame. Not for a join with \`resume\`, which holds a secret: addresses end up in logs.

### 2. Publish

Make an offer with your tracks and send it as a description. Every new track is named twice by a \`cid\` of your choice: in \`tracks\`, and as \`trackId\` of its entry.

\`\`\`json
{ "type": "publish", "id": "2",
  "tracks": [{ "cid": "cam", "kind": "VIDEO", "source": "CAMERA" }],
  "description": {
    "ice": { "ufrag": "8hhY", "pwd": "asd88fgpdd777uzjYhagZg" },
    "dtls": { "role": "actpass", "fingerprint": "sha-256 4A:AD:…" },
    "media": [{ "mid": "0", "kind": "video", "direction": "sendonly", "trackId": "cam",
                "codecs": [{ "name": "VP8", "pt": 97 }], "extensions": { "mid": 1 }, "ssrcs": [3735928559] }] } }
\`\`\`

The \`response\` has \`tracks\` (your \`cid\` and the \`trackId\` by which everybody knows it) and the answer's \`description\`, with the node's \`candidates\`: set it as the remote answer, and the transport connects. The node finds you by your ICE checks, so your own candidates need not be sent.

### 3. Receive

Wait for \`sub.offer\`; the first one comes after the join, with a data channel and the tracks there are. Set it as the remote offer, make an answer, and send its transport:

\`\`\`json
{ "type": "sub.answer", "id": "3", "revision": 1,
  "description": { "ice": { "ufrag": "…", "pwd": "…" }, "dtls": { "role": "active", "fingerprint": "sha-256 …" }, "media": [] } }
\`\`\`

Entries that you leave out of \`media\` are answered as they were offered. Refuse one with \`"codecs": []\` or \`"direction": "inactive"\`; a list of codecs keeps to those.

Once you have answered and the transport is up, the node asks the publisher for a key frame (RTCP PLI) and sends you from that one on. Packets before it do not exist: the first picture decodes. A publisher has to answer PLI with a key frame; WebRTC libraries do.

`;

function descriptions(): string {
  const ids = (kind: 'audio' | 'video', name: ExtensionName): string => String(DEFAULT_EXTENSIONS[kind][name] ?? '');
  const extensions = table(
    ['Name', 'URI', 'Default id, audio', 'Default id, video'],
    Object.entries(EXTENSION_URIS).map(([name, uri]) => [
      code(name),
      code(uri),
      ids('audio', name as ExtensionName),
      ids('video', name as ExtensionName),
    ]),
  );
  const fields = table(
    ['Field', 'Is', 'In SDP'],
    [
      ['`ice`', '`{ ufrag, pwd }`', '`a=ice-ufrag`, `a=ice-pwd`'],
      [
        '`dtls`',
        '`{ role, fingerprint }`; role `actpass`, `active` or `passive`, fingerprint `sha-256 AB:CD:…`',
        '`a=setup`, `a=fingerprint`',
      ],
      [
        '`candidates`',
        '`udp <priority> <address> <port> <type>` each; only the node sends them',
        '`a=candidate:<n> 1 …` with `typ` before the type',
      ],
      ['`media[]`', 'one entry an m-line, in order', ''],
      ['`mid`', 'name of the line, 1 to 16 characters', '`a=mid`'],
      ['`kind`', '`audio`, `video` or `data`', '`m=audio`, `m=video`, `m=application`'],
      ['`direction`', 'as the side that wrote it sees it', '`a=sendonly` …'],
      ['`trackId`', 'in a publisher’s offer the `cid` of a new track, else the track’s id', 'second word of `a=msid`'],
      ['`streamId`', 'tracks with the same one are played in sync', 'first word of `a=msid`'],
      [
        '`codecs[]`',
        '`{ name, pt, rtx?, fmtp? }`, most wanted first; an empty list refuses the line',
        '`a=rtpmap`, `a=fmtp`, and `rtx` with `apt`',
      ],
      ['`extensions`', 'ids by name; left out: the default ids below. Write `{}` for none', '`a=extmap`'],
      [
        '`descriptor`',
        'in the node’s offers of VP9 and AV1: id of `dependencyDescriptor`, beside `extensions`. Leave it out unless you forward or decode layers',
        '`a=extmap`',
      ],
      ['`ssrcs`', 'the stream, then its retransmissions', '`a=ssrc`, `a=ssrc-group:FID`'],
      ['`rids`', 'simulcast layers, lowest first', '`a=rid`, `a=simulcast`'],
    ],
  );
  const rates = Object.entries(CODEC_RATES)
    .map(([name, rate]) => code(`${name}/${rate}`))
    .join(', ');
  return `## The compact description

What an SDP says, less what both sides know. A whole one has \`ice\`, \`dtls\` and all entries; a change has only the entries that changed, and is applied to the one before: entries with a known \`mid\` are replaced where they stand, new ones go to the end.

${fields}
Everything else in an SDP is always the same: all lines in one \`BUNDLE\`, \`a=rtcp-mux\`, on video \`a=rtcp-fb\` \`nack\`, \`nack pli\`, \`ccm fir\` and \`goog-remb\`, \`transport-cc\` where \`extensions\` has \`transportCc\`, on data \`UDP/DTLS/SCTP webrtc-datachannel\`, \`a=sctp-port:5000\` and \`a=max-message-size:${DATA_MESSAGE_BYTES_MAX}\`. A line without codecs has port 0.

Codecs are ${rates}; leave others out of your offer. Of H264 baseline, main and high profiles with \`packetization-mode=1\` are taken, of several the one that every browser decodes (\`profile-level-id=42e0…\`); of VP9 and AV1 only profile 0. The node takes the first codec of your entry and answers with it alone. Lost packets are asked for by NACK. Where your entry has \`rtx\` for that codec of a video, so has the answer, and you send them again by RTX (RFC 4588): with \`rids\` only if you offer \`repairedRid\` too, and name the layer with it. Without \`rtx\` in the answer send them again as they were. The node finds the line of a packet by the \`mid\` extension or by \`ssrcs\`, so offer one of them; and what an RTX packet repeats by the second of the \`ssrcs\`, by \`mid\` and \`repairedRid\`, or because only one stream can be meant.

${extensions}`;
}

const laterOn = (): string => `
## During the call

- Publish more: add the tracks to the same peer connection, offer again, and send \`publish\` with the new \`tracks\` and the changed entries. The \`response\` has the changed entries of the answer.
- Others publish and leave: each \`sub.offer\` has a higher \`revision\` and the changed entries. Apply it, set the whole as remote offer and answer with its \`revision\`; \`ice\` and \`dtls\` count in the first answer of a transport only. The node waits for your answer before it offers again, and refuses an answer to an older revision. With more than 50 people in the room it offers at most twice a second. With \`restart: true\`, or other \`ice\` than before, it has built a new transport: begin with a new peer connection.
- Which track a line carries is its entry's \`trackId\`; whose it is, \`track.published\` and \`participants\` say. A line whose track ended becomes \`inactive\` and may carry another track later.
- With \`autoSubscribe: false\` you get what you ask for by \`subscribe\`. \`track.settings\` says how large a video is shown, so that the fitting layer comes; \`stream.state\` says when one is paused. With more than 50 people in the room, and \`roster\` in \`join\`, that comes as \`stream.states\`.
- \`track.mute\` tells the others; stop sending as well. \`unpublish\` ends a track.
- A transport that failed: \`ice.restart\` with \`pc: "sub"\` brings a new \`sub.offer\`, and what reliable data you have not had of the old one, if you say in \`received\` how many messages of others it brought (those of the node itself, below, do not count) and ignore what it still brings; with \`pc: "pub"\` send the whole description of a new peer connection, with the \`trackId\` of each track, and get the answer.
- Data: the receiving peer connection has two negotiated channels, ${Object.entries(DATA_CHANNELS)
  .map(([name, { id }]) => `\`${name}\` with id ${id}`)
  .join(
    ' and ',
  )} (unordered, no retransmits). A message is two bytes with the length of the head, the head as JSON (\`topic\`, \`to\`, \`text\`; from the node also \`from\` and \`at\`), and the payload. The frame \`data\` does the same without a channel. A message of three bytes, two zeros and a state, is of the node and on \`reliable\` only: 1, send no reliable data, as a receiver reads too slowly or your share of the second is nearly spent; 0, go on; 2, go on, and a receiver has missed something or will. After at most five seconds of 1 comes one of the others. Who ignores it loses what does not fit.
- \`token.refresh\` brings a fresh token for the next connection; you need not answer.
- \`leave\` ends the stay at once. A socket that closes without it keeps the place for ${seconds(resumeWindowMs)}.

## After a lost socket

Media goes on while the socket is away. Reconnect within ${seconds(resumeWindowMs)} and join with what you kept:

\`\`\`json
{ "type": "join", "id": "1", "connectionId": "5f0c…", "resume": { "sessionId": "ps_…", "resumeToken": "…", "lastSeq": 57 } }
\`\`\`

\`lastSeq\` is the highest \`seq\` that you have seen: of \`joined\`, and of every room event since (${roomEventTypes.map(code).join(', ')}). With \`resumed: true\` in \`joined\` the events that you missed follow, an offer that awaits your answer comes again, and both peer connections live on; \`participants\` is empty, you have them. With \`resumed: false\` it is a new stay: close both peer connections, take the list anew, publish again. A \`publish\` whose answer was lost is offered again by a new peer connection; what came of the first one ends. After \`reconnect\` with \`action: "RECONNECT"\` join without \`resume\`; with \`DISCONNECT\` do not come back.

`;
