import type { DashboardRole, ProjectMember } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { useApi, useUser } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { useProject } from '../frame/project.tsx';
import { Button } from '../kit/button.tsx';
import { ConfirmDialog, Dialog } from '../kit/dialog.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { SelectField, TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { useToast } from '../kit/toast.tsx';
import { projectKeys } from './queries.ts';
import { roleNames, roleSentences, roles } from './roles.ts';

export function InviteDialog({ onClose }: { onClose: () => void }) {
  const api = useApi();
  const client = useQueryClient();
  const toast = useToast();
  const { project } = useProject();
  const form = useForm({
    initial: { email: '', role: 'DEVELOPER' },
    check: ({ email }) => ({ email: /^[^\s@]+@[^\s@]+$/.test(email.trim()) ? undefined : 'Enter an e-mail address.' }),
    submit: ({ email, role }) =>
      // The select offers exactly the roles.
      api.call('addProjectMember', {
        projectId: project.id,
        body: { email: email.trim(), role: role as DashboardRole },
      }),
    onDone: async ({ email, status }) => {
      await client.invalidateQueries({ queryKey: projectKeys.members(project.id) });
      toast(status === 'INVITED' ? `Invited ${email}` : `Added ${email}`);
      onClose();
    },
  });
  return (
    <Dialog title="Add a member" onClose={onClose}>
      <form className="stack" onSubmit={form.onSubmit} noValidate>
        {form.failure && <ErrorNotice failure={form.failure} />}
        <TextField
          label="E-mail"
          type="email"
          autoComplete="off"
          hint="Somebody without an account is invited by mail."
          autoFocus
          {...form.field('email')}
        />
        <SelectField
          label="Role"
          hint={roleSentences[form.values.role as DashboardRole]}
          options={roles
            .filter((role) => role !== 'OWNER' || project.role === 'OWNER')
            .map((role) => ({ value: role, label: roleNames[role] }))}
          {...form.field('role')}
        />
        <div className="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
            Add member
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

export function RemoveMemberDialog({ member, onClose }: { member: ProjectMember; onClose: () => void }) {
  const api = useApi();
  const me = useUser();
  const client = useQueryClient();
  const toast = useToast();
  const [, navigate] = useLocation();
  const { project } = useProject();
  const { email, userId, status } = member;
  const isMe = userId === me.id;
  const remove = useAction(() => api.call('removeProjectMember', { projectId: project.id, userId: userId ?? email }), {
    onDone: async () => {
      toast(`Removed ${email}`);
      onClose();
      if (isMe) return navigate('/projects');
      await client.invalidateQueries({ queryKey: projectKeys.members(project.id) });
    },
  });
  return (
    <ConfirmDialog
      title={`Remove ${email}?`}
      action={isMe ? 'Leave project' : 'Remove member'}
      isBusy={remove.isBusy}
      failure={remove.failure}
      onConfirm={() => void remove.run(undefined)}
      onClose={onClose}
    >
      <p>
        {status === 'INVITED'
          ? `The invitation to ${project.name} is withdrawn.`
          : `${isMe ? 'You lose' : 'They lose'} access to ${project.name} at once, and API keys made by ${isMe ? 'you' : 'them'} end for good.`}
      </p>
    </ConfirmDialog>
  );
}
