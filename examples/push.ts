import { enablePush } from '@parley/client/push';
import { fetchChatToken, toast } from './page.ts';

document.querySelector('#notify')?.addEventListener('click', async () => {
  const push = await enablePush({ url: location.origin, token: fetchChatToken });
  if (push.state === 'denied') toast('Allow notifications in the settings of your browser.', { retry: true });
});
