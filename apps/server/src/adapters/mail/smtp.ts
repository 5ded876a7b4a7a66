import { createTransport } from 'nodemailer';
import type { Mail } from '../../core/ports.ts';

interface SmtpOptions {
  url: string;
  from: string;
  /** Sends nothing to a server without TLS: letters carry links that sign in. */
  requiresTls?: boolean;
}

const timeouts = { connectionTimeout: 5_000, greetingTimeout: 5_000, socketTimeout: 15_000, dnsTimeout: 5_000 };

export function createSmtpMail({ url, from, requiresTls = false }: SmtpOptions): Mail {
  const { protocol, hostname, port, username, password } = new URL(url);
  const isSecure = protocol === 'smtps:';
  const transport = createTransport({
    pool: true,
    maxConnections: 3,
    host: hostname,
    port: Number(port) || (isSecure ? 465 : 587),
    secure: isSecure,
    requireTLS: requiresTls,
    ...(username && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    // Messages are our own texts: nothing in them may make the mailer read files or fetch addresses.
    disableFileAccess: true,
    disableUrlAccess: true,
    ...timeouts,
  });
  return {
    canSend: true,
    async send({ to, subject, text, html, messageId }) {
      // As an object: as a text, a comma in it would make two recipients.
      await transport.sendMail({ from, to: { name: '', address: to }, subject, text, html, messageId });
    },
    async ping() {
      const started = performance.now();
      await transport.verify();
      return performance.now() - started;
    },
    async close() {
      transport.close();
    },
  };
}
