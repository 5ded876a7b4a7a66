import { text as textOf } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import type { MailMessage } from '../../src/core/ports.ts';

/** A real mail server that keeps what it gets. */
export interface TestSmtpServer {
  url: string;
  /** Newest first. */
  messages(): MailMessage[];
  /** Every envelope recipient so far. */
  recipients(): string[];
  close(): Promise<void>;
}

export async function startSmtpServer(account?: { user: string; password: string }): Promise<TestSmtpServer> {
  const messages: MailMessage[] = [];
  const recipients: string[] = [];
  const server = new SMTPServer({
    authOptional: account === undefined,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    disableReverseLookup: true,
    // A client that keeps its connection is not waited for.
    closeTimeout: 500,
    onAuth({ username, password }, _session, done) {
      const isRight = username === account?.user && password === account?.password;
      done(isRight ? null : new Error('Authentication failed'), { user: username });
    },
    onData(stream, session, done) {
      const to = session.envelope.rcptTo.map(({ address }) => address);
      recipients.push(...to);
      textOf(stream).then((message) => {
        messages.unshift({ to: to.join(', '), ...readMessage(message) });
        done();
      }, done);
    },
  });
  server.on('error', () => {}); // clients that go away
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.server.address();
  if (!address || typeof address === 'string') throw new Error('The mail server has no port.');
  return {
    url: `smtp://127.0.0.1:${address.port}`,
    messages: () => messages,
    recipients: () => recipients,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** As much of RFC 5322 and MIME as nodemailer writes for a text and its HTML. */
function readMessage(message: string): { subject: string; text: string; html: string } {
  const [head = '', body = ''] = splitOnce(message, '\r\n\r\n');
  const boundary = /boundary="([^"]+)"/.exec(unfold(head))?.[1] ?? '';
  const parts = body.split(`--${boundary}`).slice(1, -1);
  const partOf = (type: string) => decodePart(parts.find((part) => part.includes(`Content-Type: ${type}`)) ?? '');
  return { subject: decodeWords(headerOf(head, 'Subject')), text: partOf('text/plain'), html: partOf('text/html') };
}

const unfold = (head: string): string => head.replace(/\r\n[ \t]+/g, ' ');

const headerOf = (head: string, name: string): string =>
  new RegExp(`^${name}: (.*)$`, 'im').exec(unfold(head))?.[1]?.trim() ?? '';

function decodePart(part: string): string {
  const [head = '', body = ''] = splitOnce(part.trimStart(), '\r\n\r\n');
  const content = body.replace(/\r\n$/, '');
  const encoding = headerOf(head, 'Content-Transfer-Encoding').toLowerCase();
  const bytes =
    encoding === 'base64'
      ? Buffer.from(content, 'base64')
      : encoding === 'quoted-printable'
        ? unquote(content)
        : content;
  return bytes.toString().replaceAll('\r\n', '\n');
}

const decodeWords = (header: string): string =>
  header
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?UTF-8\?([BQ])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toUpperCase() === 'B' ? String(Buffer.from(word, 'base64')) : String(unquote(word.replaceAll('_', ' '))),
    );

function unquote(text: string): Buffer {
  const joined = text.replace(/=\r\n/g, '');
  return Buffer.from(
    joined.replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}
