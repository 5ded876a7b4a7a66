import { escapeHtml } from '@parley/page-build/html';
import type { MailMessage } from '../../core/ports.ts';

export function invitationMail(to: string, projectName: string, publicUrl: string): MailMessage {
  const link = `${publicUrl}/register?email=${encodeURIComponent(to)}`;
  return {
    to,
    subject: `You are invited to ${projectName}`,
    text: `You are invited to the project ${projectName} on Parley.\n\nCreate an account with this address to accept:\n${link}\n`,
    html: `<p>You are invited to the project <strong>${escapeHtml(projectName)}</strong> on Parley.</p><p><a href="${link}">Create an account with this address to accept</a></p>`,
  };
}
