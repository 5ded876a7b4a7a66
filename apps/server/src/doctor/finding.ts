/** What one look found. `fail` keeps the service, or a caller, from working. */
export interface Finding {
  check:
    | 'settings'
    | 'accounts'
    | 'secrets'
    | 'metrics'
    | 'mail'
    | 'runtime'
    | 'port'
    | 'tls'
    | 'folder'
    | 'database'
    | 'redis'
    | 'storage'
    | 'udp'
    | 'media'
    | 'address'
    | 'relay'
    | 'control'
    | 'clock'
    // From a user's machine.
    | 'dns'
    | 'tcp'
    | 'http'
    | 'sockets';
  status: 'ok' | 'warn' | 'fail';
  message: string;
  /** What to do about it. */
  fix?: string;
}

export const ok = (check: Finding['check'], message: string): Finding => ({ check, status: 'ok', message });
export const warn = (check: Finding['check'], message: string, fix: string): Finding => ({
  check,
  status: 'warn',
  message,
  fix,
});
export const fail = (check: Finding['check'], message: string, fix: string): Finding => ({
  check,
  status: 'fail',
  message,
  fix,
});
