import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { renderChart, type Values } from './chart.ts';

const folder = join(import.meta.dirname, '..', '..', 'deploy/helm/parley');

/** The least that the chart asks for. */
const values: Values = {
  publicUrl: 'https://rtc.test',
  existingSecret: 'mine',
  trustedProxies: '10.42.3.0/24',
  ingress: { host: 'rtc.test', tlsSecret: 'tls' },
};

/** Between them these make every object and take every branch. */
export const chartChoices: readonly Values[] = [
  {},
  { server: { autoscaling: { enabled: true } }, imagePullSecrets: [{ name: 'registry' }] },
  { sfu: { asksCluster: false, tolerations: [{ key: 'media', operator: 'Exists' }], settings: { SFU_CAPACITY: 9 } } },
  { ingress: { host: 'rtc.test', tlsSecret: '' } },
];

/** What the chart makes of these values, beside the least. */
export const chartObjects = (given: Values = {}): Values[] =>
  [...renderChart(folder, { ...values, ...given }).values()].flatMap(documentsOf);

/** What a file holds; one that is not YAML throws. */
export const documentsOf = (text: string): Values[] =>
  parseAllDocuments(text).flatMap((document) => {
    const [error] = document.errors;
    if (error) throw error;
    const value: Values | null = document.toJS();
    return value === null ? [] : [value];
  });
