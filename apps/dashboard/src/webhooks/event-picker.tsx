import type { WebhookEventType } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { useApi } from '../data/services.tsx';
import { askFor, useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import type { PlainKey } from '../i18n/catalogue.ts';
import { t } from '../i18n/t.ts';
import { Checkbox } from '../kit/field.tsx';
import { eventTypesQuery } from './queries.ts';

function groupOf({ type, core, onRequest }: WebhookEventType): PlainKey {
  if (onRequest !== null) return 'webhooks.onRequest';
  if (!core) return 'webhooks.furtherTypes';
  return type.startsWith('live_stream.') ? 'page.live-streams' : 'page.chat';
}

/** Which events an endpoint receives. An empty choice is all but those on request, and those that come later. */
export function EventPicker({ chosen, onChange }: { chosen: readonly string[]; onChange: (types: string[]) => void }) {
  const query = useQuery(eventTypesQuery(useApi()));
  const { may } = useProject();
  const refusal = (onRequest: WebhookEventType['onRequest']) =>
    onRequest === null || may(onRequest) ? {} : { disabled: true, title: askFor(onRequest) };
  return (
    <fieldset className="picker">
      <legend>{t('webhooks.events')}</legend>
      <Checkbox
        label={t('webhooks.allAndLater')}
        hint={t('webhooks.butOnRequest')}
        checked={chosen.length === 0}
        onChange={(event) => {
          if (event.target.checked) onChange([]);
          else onChange(query.data?.filter(({ core }) => core).map(({ type }) => type) ?? []);
        }}
      />
      {chosen.length > 0 && (
        <QueryView query={query}>
          {(types) =>
            [...Map.groupBy(types, groupOf)].map(([group, members]) => (
              <fieldset key={group} className="picker-group">
                <legend>{t(group)}</legend>
                {members.map(({ type, description, onRequest }) => (
                  <Checkbox
                    key={type}
                    label={<span className="mono">{type}</span>}
                    hint={description}
                    {...refusal(onRequest)}
                    checked={chosen.includes(type)}
                    onChange={(event) =>
                      onChange(event.target.checked ? [...chosen, type] : chosen.filter((other) => other !== type))
                    }
                  />
                ))}
              </fieldset>
            ))
          }
        </QueryView>
      )}
    </fieldset>
  );
}
