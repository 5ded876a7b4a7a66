import type { WebhookEventType } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { useApi } from '../data/services.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { Checkbox } from '../kit/field.tsx';
import { eventTypesQuery } from './queries.ts';

const groupOf = ({ type, core }: WebhookEventType): string =>
  core ? (type.startsWith('live_stream.') ? 'Live streams' : 'Chat') : 'Further types';

/** Which events an endpoint receives. An empty choice is all of them, and those that come later. */
export function EventPicker({ chosen, onChange }: { chosen: readonly string[]; onChange: (types: string[]) => void }) {
  const query = useQuery(eventTypesQuery(useApi()));
  return (
    <fieldset className="picker">
      <legend>Events</legend>
      <Checkbox
        label="All, including types added later"
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
                {members.map(({ type, description }) => (
                  <Checkbox
                    key={type}
                    label={<span className="mono">{type}</span>}
                    hint={description}
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
