import type { WebhookEventType } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { useApi } from '../data/services.tsx';
import { askFor, useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { Checkbox } from '../kit/field.tsx';
import { eventTypesQuery } from './queries.ts';

function groupOf({ type, core, onRequest }: WebhookEventType): string {
  if (onRequest !== null) return 'On request: not among all';
  if (!core) return 'Further types';
  return type.startsWith('live_stream.') ? 'Live streams' : 'Chat';
}

/** Which events an endpoint receives. An empty choice is all but those on request, and those that come later. */
export function EventPicker({ chosen, onChange }: { chosen: readonly string[]; onChange: (types: string[]) => void }) {
  const query = useQuery(eventTypesQuery(useApi()));
  const { may } = useProject();
  const refusal = (onRequest: WebhookEventType['onRequest']) =>
    onRequest === null || may(onRequest) ? {} : { disabled: true, title: askFor(onRequest) };
  return (
    <fieldset className="picker">
      <legend>Events</legend>
      <Checkbox
        label="All, including types added later"
        hint="But for those on request, such as the audit log: name them."
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
                <legend>{group}</legend>
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
