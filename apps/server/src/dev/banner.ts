import { styleText } from 'node:util';
import type { MediaState } from '../media-node.ts';
import type { DevEnv } from './dev-env.ts';

interface BannerFacts {
  version: string;
  publicUrl: string;
  readyInMs: number;
  dataDir: string;
  env: DevEnv;
  isNew: boolean;
  isEmbedded: boolean;
  /** Code of the one-time sign-in link. */
  code: string;
  /** The media node beside the server; null when none is run. */
  media: MediaState | null;
}

/** What scripts read: `npm start -- --json`. The secrets are in dev.env. */
export const facts = ({ version, publicUrl, readyInMs, dataDir, env, code, media }: BannerFacts): object => ({
  version,
  readyInMs: Math.round(readyInMs),
  url: publicUrl,
  signIn: signInLink(publicUrl, code),
  playground: `${publicUrl}/playground/room/demo`,
  projectId: env.SVC_PROJECT_ID,
  env: `${dataDir}/dev.env`,
  mediaPort: media?.status === 'OK' ? (media.udpPorts[0] ?? null) : null,
  mediaProblem: media?.status === 'DOWN' ? media.problem : null,
});

const signInLink = (publicUrl: string, code: string): string => `${publicUrl}/dev/login?code=${code}`;

/** What the terminal shows when development mode is ready. */
export function banner(given: BannerFacts, isColoured: boolean): string {
  const { version, publicUrl, readyInMs, dataDir, env, code } = given;
  const strong = (text: string): string => (isColoured ? styleText('bold', text) : text);
  const link = (text: string): string => (isColoured ? styleText('cyan', text) : text);
  const rows: [label: string, value: string][] = [
    ['Open', `${link(signInLink(publicUrl, code))}   (signs you in, works once)`],
    ['Playground', link(`${publicUrl}/playground/room/demo`)],
    ['Dashboard', link(publicUrl)],
    ['API', link(`${publicUrl}/v1`)],
    ['Docs', link(`${publicUrl}/docs`)],
    ['Mail', link(`${publicUrl}/dev/mail`)],
    ['Events', link(`${publicUrl}/dev/events`)],
    ['', ''],
    ['Account', `${env.SVC_DEV_EMAIL}  password in ${dataDir}/dev.env`],
    ['Project', `Demo (development)  ${env.SVC_PROJECT_ID}`],
    ['API key', keyText(given)],
    ...mediaRow(given),
    ...databaseRow(given),
  ];
  const lines = rows.map(([label, value]) => (label === '' ? '' : `  ${label.padEnd(16)}${value}`));
  return [
    '',
    `${strong(`parley ${version}`)}  dev mode  ready in ${(readyInMs / 1000).toFixed(1)} s`,
    '',
    ...lines,
    '',
    '  Try it',
    `    . ${dataDir}/dev.env`,
    '    curl -s $SVC_URL/v1/rooms -H "Authorization: Bearer $SVC_API_KEY"',
    '    curl -s -X POST $SVC_URL/v1/rooms/demo/rtc-tokens -H "Authorization: Bearer $SVC_API_KEY" \\',
    `         -H 'Content-Type: application/json' -d '{"participantIdentity":"ada","permissions":{"publish":true}}'`,
    '',
    `  Data is in ${dataDir}   Reset with: npx parley reset   Stop with Ctrl+C`,
    '',
  ].join('\n');
}

const keyText = ({ env, isNew, dataDir }: BannerFacts): string =>
  isNew
    ? `${env.SVC_API_KEY}  shown once, saved in ${dataDir}/dev.env`
    : `${env.SVC_API_KEY.split('.')[0]}.…  in ${dataDir}/dev.env`;

const mediaRow = ({ media }: BannerFacts): [string, string][] => (media === null ? [] : [['Media', mediaText(media)]]);

function mediaText(media: MediaState): string {
  switch (media.status) {
    case 'OK':
      return `1 node beside the server, UDP ${media.udpPorts.join(', ')}`;
    case 'STARTING':
      return 'the node beside the server is still starting: no calls yet';
    case 'DOWN':
      return `NO CALLS: the node beside the server does not run: ${media.problem}`;
  }
}

const databaseRow = ({ isEmbedded, dataDir }: BannerFacts): [string, string][] =>
  isEmbedded
    ? [
        [
          'Database',
          `embedded in ${dataDir}: survives a crash of the process, not a power cut; set DATABASE_URL for PostgreSQL`,
        ],
      ]
    : [];
