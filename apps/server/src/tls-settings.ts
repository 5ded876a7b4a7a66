import { isIP } from 'node:net';
import { mapped, record, type Setting, type Source, text } from '@parley/contract/settings';
import type { TlsSettings } from './core/front.ts';
import { flag, oneOf, secureUrl } from './setting-kinds.ts';

/** Names that no public authority signs. */
const privateSuffix = /(^|\.)(localhost|local|internal|lan|test|example|invalid|home\.arpa)$/i;

const isPublicName = (name: string): boolean => name.includes('.') && isIP(name) === 0 && !privateSuffix.test(name);

const publicUrlOf = (source: Source): URL | null => {
  const given = source.text('PUBLIC_URL');
  return given !== null && URL.canParse(given) ? new URL(given) : null;
};

/**
 * A proxy has to be told of a port, so a set-up that has one names PORT, TRUST_PROXY or at least the SECRET_KEY that
 * production could not start without. Who was given none of them has nobody in front.
 */
function standsAlone(source: Source): boolean {
  const url = publicUrlOf(source);
  if (!source.isProduction || url?.protocol !== 'https:' || url.port !== '' || !isPublicName(url.hostname))
    return false;
  if (source.text('TRUST_PROXY') !== null) return false;
  const port = source.text('PORT');
  return port === null ? source.text('SECRET_KEY') === null : port === '443';
}

function defaultKind(source: Source): TlsSettings['kind'] {
  if (source.text('TLS_CERT') !== null || source.text('TLS_KEY') !== null) return 'files';
  return standsAlone(source) ? 'acme' : 'off';
}

const kind = oneOf('TLS', ['off', 'files', 'acme'], {
  default: defaultKind,
  defaultText:
    'files with TLS_CERT; acme in production for an https PUBLIC_URL with a public name when PORT is 443 and TRUST_PROXY is unset, or when PORT, TRUST_PROXY and SECRET_KEY all are; else off',
  means:
    'Who encrypts PORT: a proxy in front (off), this server with the certificate in TLS_CERT (files), or this server with one that it gets and renews itself (acme).',
});

/** An https address behind which nobody who is known encrypts: a forgotten TLS, or a forgotten TRUST_PROXY. */
export const lacksTls = (config: {
  isProduction: boolean;
  tls: TlsSettings;
  publicUrl: string;
  trustProxy: readonly string[];
}): boolean =>
  config.isProduction &&
  config.tls.kind === 'off' &&
  config.publicUrl.startsWith('https:') &&
  config.trustProxy.length === 0;

/** What an authority, browsers and proxies expect TLS on. */
export const tlsPort = 443;
/** What browsers try first when only a name is typed, and where http-01 validates. */
export const plainHttpPort = 80;

export const isTlsOwn = (source: Source): boolean => source.isProduction && kind.read(source) !== 'off';

export const tls: Setting<TlsSettings> = mapped(
  record({
    kind,
    certificateFile: text('TLS_CERT', {
      means: 'File with the certificate and its chain (PEM). Read again when it changes.',
    }),
    keyFile: text('TLS_KEY', { means: 'File with the key of TLS_CERT (PEM).' }),
    directoryUrl: secureUrl('ACME_DIRECTORY_URL', {
      default: 'https://acme-v02.api.letsencrypt.org/directory',
      means: 'Directory of the certificate authority that TLS=acme asks (RFC 8555).',
    }),
    email: text('ACME_EMAIL', { means: 'Where the certificate authority writes to about the account.' }),
    areTermsAgreed: flag('ACME_TERMS_AGREED', {
      default: true,
      means: 'Whether you agree to the terms of that authority; with false none is asked.',
    }),
  }),
  (given, source): TlsSettings => {
    switch (given.kind) {
      case 'off':
        return { kind: 'off' };
      case 'files':
        return filesOf(given, source);
      case 'acme':
        return acmeOf(given, source);
    }
  },
);

interface Given {
  certificateFile: string | null;
  keyFile: string | null;
  directoryUrl: string;
  email: string | null;
  areTermsAgreed: boolean;
}

function filesOf({ certificateFile, keyFile }: Given, source: Source): TlsSettings {
  if (certificateFile === null || keyFile === null) source.report('TLS_CERT and TLS_KEY must be set together.');
  reportPlainAddress(source);
  return { kind: 'files', certificateFile: certificateFile ?? '', keyFile: keyFile ?? '' };
}

function acmeOf({ directoryUrl, email, areTermsAgreed }: Given, source: Source): TlsSettings {
  const name = publicUrlOf(source)?.hostname ?? '';
  if (name !== '' && (isIP(name.replace(/^\[|\]$/g, '')) !== 0 || name === 'localhost'))
    source.report('PUBLIC_URL must have a host name with TLS=acme: an authority signs names, not addresses.');
  reportPlainAddress(source);
  return { kind: 'acme', name, directoryUrl, email, areTermsAgreed };
}

/** Cookies, links and sockets follow PUBLIC_URL. */
function reportPlainAddress(source: Source): void {
  if (publicUrlOf(source)?.protocol !== 'https:') source.report('PUBLIC_URL must be https when TLS is not off.');
}
