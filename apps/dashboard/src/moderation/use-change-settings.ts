import type { ModerationSettings, SetModeration } from '@parley/contract';
import type { Api } from '@parley/server/call';
import { useProject } from '../frame/project.tsx';

/** Changes part of the settings: they are stored as a whole, so what others changed meanwhile is read first. */
export function useChangeSettings(api: Api) {
  const { project, environment } = useProject();
  const at = { projectId: project.id, query: { environment } };
  return async (next: (now: ModerationSettings) => SetModeration): Promise<ModerationSettings> =>
    api.call('setProjectModeration', { ...at, body: next(await api.call('getProjectModeration', at)) });
}
