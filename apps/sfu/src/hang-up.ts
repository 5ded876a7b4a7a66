import { isatty } from 'node:tty';

export const isInTerminal = (): boolean => [0, 1, 2].some((descriptor) => isatty(descriptor));

/**
 * What a closed terminal does: it ends what was run in it, and not what was sent into the background for good. Node
 * forgets at its start that nohup had SIGHUP ignored; but nohup, like a service, leaves no terminal to read or write.
 */
export function onHangUp(stop: () => void): void {
  process.on('SIGHUP', isInTerminal() ? stop : () => undefined);
}
