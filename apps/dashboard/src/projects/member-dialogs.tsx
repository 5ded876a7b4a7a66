import type { DashboardRole, ProjectMember } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { useApi, useUser } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { useProject } from '../frame/project.tsx';
import { ConfirmDialog } from '../kit/dialog.tsx';
import { SelectField, TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { FormDialog } from '../kit/form-dialog.tsx';
import { useToast } from '../kit/toast.tsx';
import { projectKeys } from './queries.ts';
import { roleName, roleSentence, roles } from './roles.ts';
import { t } from './texts.ts';

export function InviteDialog({ onClose }: { onClose: () => void }) {
  const api = useApi();
  const client = useQueryClient();
  const toast = useToast();
  const { project } = useProject();
  const form = useForm({
    initial: { email: '', role: 'DEVELOPER' },
    check: ({ email }) => ({ email: /^[^\s@]+@[^\s@]+$/.test(email.trim()) ? undefined : t('projects.enterEmail') }),
    submit: ({ email, role }) =>
      // The select offers exactly the roles.
      api.call('addProjectMember', {
        projectId: project.id,
        body: { email: email.trim(), role: role as DashboardRole },
      }),
    onDone: async ({ email, status }) => {
      await client.invalidateQueries({ queryKey: projectKeys.members(project.id) });
      toast(t(status === 'INVITED' ? 'projects.invitedEmail' : 'projects.addedEmail', { email }));
      onClose();
    },
  });
  return (
    <FormDialog title={t('projects.addAMember')} onClose={onClose} form={form} action={t('projects.addMember')}>
      <TextField
        label={t('projects.email')}
        type="email"
        autoComplete="off"
        hint={t('projects.emailHint')}
        autoFocus
        {...form.field('email')}
      />
      <SelectField
        label={t('words.role')}
        hint={roleSentence(form.values.role as DashboardRole)}
        options={roles
          .filter((role) => role !== 'OWNER' || project.role === 'OWNER')
          .map((role) => ({ value: role, label: roleName(role) }))}
        {...form.field('role')}
      />
    </FormDialog>
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
      toast(t('projects.removedEmail', { email }));
      onClose();
      if (isMe) return navigate('/projects');
      await client.invalidateQueries({ queryKey: projectKeys.members(project.id) });
    },
  });
  return (
    <ConfirmDialog
      title={t('projects.removeAsk', { email })}
      action={t(isMe ? 'projects.leaveProject' : 'projects.removeMember')}
      isBusy={remove.isBusy}
      failure={remove.failure}
      onConfirm={() => void remove.run(undefined)}
      onClose={onClose}
    >
      <p>
        {t(status === 'INVITED' ? 'projects.invitationWithdrawn' : isMe ? 'projects.youLose' : 'projects.theyLose', {
          project: project.name,
        })}
      </p>
    </ConfirmDialog>
  );
}
