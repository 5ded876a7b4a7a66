import { CloseIcon } from '../icons.tsx';
import { IconButton } from '../shared/icon-button.tsx';
import { useTexts } from '../texts.tsx';
import type { Uploads } from './uploads.ts';

/** Files on their way, with how far they are. */
export function UploadList({ uploads }: { uploads: Uploads }) {
  const texts = useTexts();
  if (uploads.list.length === 0) return null;
  return (
    <ul className="parley-uploads">
      {uploads.list.map((upload) => (
        <li key={upload.id} data-failed={upload.hasFailed || undefined}>
          {upload.hasFailed ? (
            <>
              <span role="alert">{texts.uploadFailed(upload.file.name)}</span>
              <button type="button" className="parley-link" onClick={() => uploads.retry(upload)}>
                {texts.tryAgain}
              </button>
            </>
          ) : (
            <>
              <span className="parley-file-name">{upload.file.name}</span>
              <progress value={upload.done} aria-label={texts.uploading(upload.file.name)} />
            </>
          )}
          <IconButton label={`${texts.cancel}: ${upload.file.name}`} onClick={() => uploads.remove(upload)}>
            <CloseIcon />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}
