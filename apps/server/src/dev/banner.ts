import type { DevEnv } from './first-run.ts';

export interface BannerFacts {
  version: string;
  publicUrl: string;
  readyInMs: number;
  dataDir: string;
  env: DevEnv;
  isNew: boolean;
  isEmbedded: boolean;
  /** UDP port of the media node beside the server; null when none is run. */
  mediaPort: number | null;
}

/** What the terminal shows when development mode is ready. */
export function banner({
  version,
  publicUrl,
  readyInMs,
  dataDir,
  env,
  isNew,
  isEmbedded,
  mediaPort,
}: BannerFacts): string {
  const key = isNew
    ? `${env.SVC_API_KEY}  shown once, saved in ${dataDir}/dev.env`
    : `${env.SVC_API_KEY.split('.')[0]}.…  in ${dataDir}/dev.env`;
  const rows = [
    ['Dashboard', publicUrl],
    ['API', `${publicUrl}/v1`],
    ['Reference', `${publicUrl}/docs/reference`],
    ['Mail', `${publicUrl}/dev/mail`],
    ['', ''],
    ['Account', `${env.SVC_DEV_EMAIL}  password in ${dataDir}/dev.env`],
    ['Project', `Demo (development)  ${env.SVC_PROJECT_ID}`],
    ['API key', key],
    ...(mediaPort === null ? [] : [['Media', `1 node beside the server, UDP ${mediaPort}`]]),
    ...(isEmbedded
      ? [
          [
            'Database',
            `embedded in ${dataDir}: survives a crash of the process, not a power cut; set DATABASE_URL for PostgreSQL`,
          ],
        ]
      : []),
  ];
  const lines = rows.map(([label = '', value = '']) => (label === '' ? '' : `  ${label.padEnd(16)}${value}`));
  return [
    '',
    `parley ${version}  dev mode  ready in ${(readyInMs / 1000).toFixed(1)} s`,
    '',
    ...lines,
    '',
    '  Try it',
    `    . ${dataDir}/dev.env`,
    '    curl -s $SVC_URL/v1/project -H "Authorization: Bearer $SVC_API_KEY"',
    '',
    `  Data is in ${dataDir}   Stop with Ctrl+C`,
    '',
  ].join('\n');
}
