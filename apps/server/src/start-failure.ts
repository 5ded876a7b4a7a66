import { ConfigError } from './config.ts';
import { DatabaseUnavailable } from './core/db.ts';
import { StartRefused } from './core/start-refused.ts';
import { tlsPort } from './tls-settings.ts';

/** Ports that only privileged processes may open. */
const privilegedBelow = 1024;

/** Start failures a person can act on, in one sentence each; anything else is a bug and shows its stack. */
export function explainStartFailure(error: unknown, isEmbedded: boolean): string {
  if (error instanceof ConfigError) return error.problems.join('\n');
  if (error instanceof DatabaseUnavailable)
    return isEmbedded
      ? `${error.message.replace(/\.$/, '')}. See that its disk has room, or use another DATA_DIR.`
      : 'The database in DATABASE_URL does not answer. Start it, or unset DATABASE_URL to use the embedded one.';
  if (error instanceof StartRefused) return error.message;
  if (!(error instanceof Error)) return String(error);
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  switch (code) {
    case 'EADDRINUSE':
      if (port === tlsPort)
        return `Port ${port} is in use by another process: stop it, or let it be the proxy in front (TLS=off, TRUST_PROXY).`;
      return `Port ${port} is in use by another process. Use PORT=${(port ?? 4000) + 1} npm start.`;
    case 'EACCES':
      if (port !== undefined && port < privilegedBelow)
        return `Port ${port} needs a right that this process does not have: give it CAP_NET_BIND_SERVICE (systemd: AmbientCapabilities and CapabilityBoundingSet), or set TLS=acme and map ${port} to another PORT.`;
      return `There is no permission for ${error.message.replace(/^EACCES:[^,]*, /, '')}. Use another PORT or DATA_DIR.`;
    case 'EADDRNOTAVAIL':
      return 'HOST is not an address of this machine.';
  }
  return error.stack ?? error.message;
}
