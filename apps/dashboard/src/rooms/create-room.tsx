import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { useApi } from '../data/services.tsx';
import { useProject } from '../frame/project.tsx';
import { t } from '../i18n/t.ts';
import { Button } from '../kit/button.tsx';
import { Snippet } from '../kit/copy.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { roomKeys } from './queries.ts';

const lengthMax = 128;

/** Answers while typing; the service's own rule decides. */
function nameProblem(name: string): string | undefined {
  if (name === '') return t('rooms.giveName');
  if (!/^[A-Za-z0-9._-]*$/.test(name)) return t('rooms.nameCharacters');
  return name.length > lengthMax ? t('rooms.nameLength', { max: lengthMax }) : undefined;
}

export function CreateRoomForm() {
  const api = useApi();
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const { project, environment, to } = useProject();
  const form = useForm({
    initial: { name: '' },
    check: ({ name }) => ({ name: nameProblem(name) }),
    submit: (body) => api.call('createProjectRoom', { projectId: project.id, query: { environment }, body }),
    fieldOf: { SVC_ROOM_NAME_TAKEN: 'name' },
    onDone: async ({ id }) => {
      await client.invalidateQueries({ queryKey: roomKeys.list(project.id, environment) });
      navigate(to(`rooms/${id}`));
    },
  });
  const { error, ...field } = form.field('name');
  const typed = form.values.name === '' ? undefined : nameProblem(form.values.name);
  return (
    <form className="stack inline-form" onSubmit={form.onSubmit} noValidate>
      {form.failure && <ErrorNotice failure={form.failure} />}
      <TextField
        label={t('rooms.roomName')}
        hint={t('rooms.nameHint')}
        autoComplete="off"
        spellCheck={false}
        autoFocus
        error={typed ?? error}
        {...field}
      />
      <div className="dialog-actions">
        <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
          {t('rooms.create')}
        </Button>
      </div>
    </form>
  );
}

/** The same from a backend. */
export function RoomSnippets() {
  const curl = `curl -s -X POST ${location.origin}/v1/rooms \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H 'Content-Type: application/json' -d '{"name":"standup"}'`;
  return <Snippet label="curl" code={curl} />;
}
