import type { ApiKey, ApiKeyScope, CreateApiKey } from '@parley/contract';
import { Checkbox, TextArea, TextField } from '../kit/field.tsx';
import type { Form } from '../kit/form.ts';
import { Time } from '../kit/time.tsx';

const scopeHints: Readonly<Record<ApiKeyScope, string>> = {
  rooms: 'Rooms and their participants.',
  tokens: 'Mint and revoke RTC and chat tokens.',
  chat: 'Conversations, members and messages.',
  streams: 'Live streams, with the tokens of hosts and viewers.',
  webhooks: 'The stream of events and their types.',
  users: 'Shut users out and let them in again.',
  read: 'Read everything, change nothing.',
};
const scopes = Object.keys(scopeHints) as ApiKeyScope[];

/** What the fields of a new key's bounds hold: scopes separated by blanks, a local time, one network a line. */
export const noBounds = { scopes: '', expiresAt: '', allowedNetworks: '' };
type BoundValues = typeof noBounds;

const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '');

export function checkBounds({ expiresAt }: BoundValues): Partial<BoundValues> {
  const isOver = expiresAt !== '' && !(new Date(expiresAt).getTime() > Date.now());
  return isOver ? { expiresAt: 'Choose a time in the future.' } : {};
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
      <summary>Bounds</summary>
      <div className="stack">
        <fieldset className="picker">
          <legend>Scopes: none chosen is all</legend>
          {scopes.map((scope) => (
            <Checkbox
              key={scope}
              label={<span className="mono">{scope}</span>}
              hint={scopeHints[scope]}
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
          label="Expires"
          type="datetime-local"
          hint="In your time zone. Empty: never."
          {...form.field('expiresAt')}
        />
        <TextArea
          label="Allowed networks"
          rows={3}
          spellCheck={false}
          hint="One a line, such as 203.0.113.0/24 or 2001:db8::/32. Empty: from anywhere."
          {...form.field('allowedNetworks')}
        />
      </div>
    </details>
  );
}

/** In a row of the list. */
export function KeyBoundsCell({ apiKey }: { apiKey: ApiKey }) {
  const { scopes: held, expiresAt, allowedNetworks } = apiKey;
  if (!held && !expiresAt && !allowedNetworks) return <span className="no-data">None</span>;
  return (
    <>
      {held && <div className="mono">{held.join(', ')}</div>}
      {expiresAt && (
        <div>
          until <Time at={expiresAt} />
        </div>
      )}
      {allowedNetworks && <div>from {allowedNetworks.join(', ')}</div>}
    </>
  );
}
