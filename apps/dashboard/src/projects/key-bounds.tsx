import type { ApiKey, ApiKeyScope, CreateApiKey } from '@parley/contract';
import type { Key } from '../i18n/catalogue.ts';
import { Checkbox, TextArea, TextField } from '../kit/field.tsx';
import type { Form } from '../kit/form.ts';
import { Time } from '../kit/time.tsx';
import { t, withNodes } from './texts.ts';

const scopeHints = {
  rooms: 'projects.scopeRooms',
  tokens: 'projects.scopeTokens',
  chat: 'projects.scopeChat',
  streams: 'projects.scopeStreams',
  webhooks: 'projects.scopeWebhooks',
  users: 'projects.scopeUsers',
  alerts: 'projects.scopeAlerts',
  read: 'projects.scopeRead',
} as const satisfies Record<ApiKeyScope, Key>;
const scopes = Object.keys(scopeHints) as ApiKeyScope[];

/** What the fields of a new key's bounds hold: scopes separated by blanks, a local time, one network a line. */
export const noBounds = { scopes: '', expiresAt: '', allowedNetworks: '' };
type BoundValues = typeof noBounds;

const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '');

export function checkBounds({ expiresAt }: BoundValues): Partial<BoundValues> {
  const isOver = expiresAt !== '' && !(new Date(expiresAt).getTime() > Date.now());
  return isOver ? { expiresAt: t('projects.futureTime') } : {};
}

/** Bounds that are left empty are not sent: the key does not have them. */
export function readBounds(values: BoundValues): Pick<CreateApiKey, 'scopes' | 'expiresAt' | 'allowedNetworks'> {
  const [chosen, networks] = [wordsOf(values.scopes), wordsOf(values.allowedNetworks)];
  return {
    ...(chosen.length > 0 && { scopes: scopes.filter((scope) => chosen.includes(scope)) }),
    ...(values.expiresAt !== '' && { expiresAt: new Date(values.expiresAt).toISOString() }),
    ...(networks.length > 0 && { allowedNetworks: networks }),
  };
}

export function KeyBoundsFields({ form }: { form: Form<BoundValues & { name: string }> }) {
  const chosen = wordsOf(form.values.scopes);
  return (
    <details>
      <summary>{t('projects.bounds')}</summary>
      <div className="stack">
        <fieldset className="picker">
          <legend>{t('projects.scopesLegend')}</legend>
          {scopes.map((scope) => (
            <Checkbox
              key={scope}
              label={<span className="mono">{scope}</span>}
              hint={t(scopeHints[scope])}
              checked={chosen.includes(scope)}
              onChange={({ target }) =>
                form.set(
                  'scopes',
                  (target.checked ? [...chosen, scope] : chosen.filter((one) => one !== scope)).join(' '),
                )
              }
            />
          ))}
        </fieldset>
        <TextField
          label={t('projects.expires')}
          type="datetime-local"
          hint={t('projects.expiresHint')}
          {...form.field('expiresAt')}
        />
        <TextArea
          label={t('projects.allowedNetworks')}
          rows={3}
          spellCheck={false}
          hint={t('projects.networksHint')}
          {...form.field('allowedNetworks')}
        />
      </div>
    </details>
  );
}

/** In a row of the list. */
export function KeyBoundsCell({ apiKey }: { apiKey: ApiKey }) {
  const { scopes: held, expiresAt, allowedNetworks } = apiKey;
  if (!held && !expiresAt && !allowedNetworks) return <span className="no-data">{t('words.none')}</span>;
  return (
    <>
      {held && <div className="mono">{held.join(', ')}</div>}
      {expiresAt && <div>{withNodes('projects.until', { time: <Time at={expiresAt} /> })}</div>}
      {allowedNetworks && <div>{t('projects.fromWhere', { address: allowedNetworks.join(', ') })}</div>}
    </>
  );
}
