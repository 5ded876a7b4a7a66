import { readFile } from 'node:fs/promises';
import { ConfigError, type NodeConfig } from '../config.ts';
import type { KeyPair, TurnRelay } from './relay.ts';

type TurnTls = Pick<NonNullable<NodeConfig['turnTls']>, 'certFile' | 'keyFile'>;

const READ_EVERY_MS = 10_000;

export async function readCertificate({ certFile, keyFile }: TurnTls): Promise<KeyPair> {
  const [cert, key] = await Promise.all([read('SFU_TURN_TLS_CERT', certFile), read('SFU_TURN_TLS_KEY', keyFile)]);
  return { cert, key };
}

/** Not watched but read: a file that is replaced, or a mounted folder, tells a watcher nothing. */
export function followCertificate(
  files: TurnTls,
  relay: Pick<TurnRelay, 'renewCertificate'>,
  onError: (error: unknown) => void,
  everyMs = READ_EVERY_MS,
): () => void {
  let served = '';
  let isBroken = false;
  async function look(): Promise<void> {
    try {
      const pair = await readCertificate(files);
      if (pair.cert + pair.key !== served) relay.renewCertificate(pair);
      served = pair.cert + pair.key;
      isBroken = false;
    } catch (error) {
      // Between the writing of one file and of the other they do not match: said once, and looked at again.
      if (!isBroken) onError(error);
      isBroken = true;
    }
  }
  const timer = setInterval(() => void look(), everyMs);
  return () => clearInterval(timer);
}

const read = (name: string, file: string): Promise<string> =>
  readFile(file, 'utf8').catch(() => {
    throw new ConfigError(`${name} must be a file that can be read; ${file} is not.`);
  });
