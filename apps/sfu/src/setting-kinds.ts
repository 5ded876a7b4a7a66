import { isIP } from 'node:net';
import type { Kind } from '@parley/contract/settings';
import type { StunServer } from './stun.ts';

export const anyText = (takes = 'text'): Kind<string> => ({ takes, parse: (given) => given });

export const wholeNumber = (least: number, most: number, takes = 'whole number'): Kind<number> => ({
  takes,
  parse(given, name, { report }) {
    if (!/^\d+$/.test(given) || Number(given) < least || Number(given) > most)
      report(`${name} must be a whole number from ${least} to ${most}.`);
    return Number(given);
  },
});

/** With `off` there is none. */
export const orOff = <T>({ takes, parse }: Kind<T>): Kind<T | null> => ({
  takes,
  parse: (given, name, source) => (given === 'off' ? null : parse(given, name, source)),
});

export const matching = (pattern: RegExp, words: string, takes = 'text'): Kind<string> => ({
  takes,
  parse(given, name, { report }) {
    if (!pattern.test(given)) report(`${name} must be ${words}.`);
    return given;
  },
});

export const host = (takes: string, words = 'a host name or an IP address'): Kind<string> =>
  matching(/^[A-Za-z0-9.:-]{1,255}$/, words, takes);

/** Without slashes at its end. */
export const plainUrl: Kind<string> = {
  takes: 'URL (http:// or https://)',
  parse(given, name, { report }) {
    if (!isPlainUrl(given)) report(`${name} must be an http or https URL without credentials.`);
    return given.replace(/\/+$/, '');
  },
};

function isPlainUrl(given: string): boolean {
  if (!URL.canParse(given)) return false;
  const { protocol, username, password } = new URL(given);
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
}

export type PublicAddresses = 'auto' | readonly string[];

export const publicAddresses: Kind<PublicAddresses> = {
  takes: 'auto, or IP addresses',
  parse(given, name, { report }) {
    if (given === 'auto') return 'auto';
    const addresses = given.split(',').flatMap((address) => address.trim() || []);
    if (addresses.some((address) => isIP(address) === 0))
      report(`${name} must be auto, or IP addresses with commas between them.`);
    return addresses;
  },
};

const stunPort = 3478;

/** `stun.example.com:3478`, with or without the port. */
export const stunServer: Kind<StunServer> = {
  takes: 'host or host:port',
  parse(given, name, { report }) {
    const [, host = '', port = stunPort] = /^(?:stun:)?(\[[\da-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/i.exec(given) ?? [];
    if (host === '' || Number(port) > 65_535) report(`${name} must be a host, with a port if it is not ${stunPort}.`);
    return { host: host.replaceAll(/^\[|\]$/g, ''), port: Number(port) };
  },
};
