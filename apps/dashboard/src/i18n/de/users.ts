import type { Translated } from '../catalogue.ts';
import type { users as english } from '../en/users.ts';

export const users: Translated<typeof english> = {
  'users.lead':
    'Wer Chat benutzt: wer einen Eintrag oder eine Sitzung hat. Von einem Eintrag ist nur die Rolle zu sehen.',
  'users.caption': 'Benutzer von Chat in {environment}, nach ihrer Kennung',
  'users.byId': 'Benutzerkennung',
  'users.none': 'Noch kein Benutzer in {environment}',
  'users.noMatch': 'Kein Benutzer hat diese Kennung',
  'users.whoAppears':
    'Ein Benutzer erscheint hier mit seiner ersten Sitzung im Chat, oder wenn dein Backend einen Eintrag über ihn schreibt. Zum Chatten braucht niemand einen Eintrag.',
  'users.writeOne': 'Einen Eintrag schreiben',
  'users.record': 'Eintrag',
  'users.written': 'Vorhanden',
  'users.notWritten': 'Keiner: zum Chatten braucht niemand einen',
  'users.changed': 'Geändert',
  'users.connectedNow': 'Verbunden',
  'users.noSession': 'Keine Sitzung in 30 Tagen',
  'users.never': 'Vom Eintrag eines Benutzers ist nur die Rolle zu sehen, und nichts von dem, was er schreibt.',
  'users.about': 'Über den Benutzer',
  'users.copyId': 'Benutzerkennung kopieren',
  'users.given': 'Angegeben',
  'users.picture': 'Bild',
  'users.conversationsCaption': 'Unterhaltungen des Benutzers',
  'users.noConversation': 'Der Benutzer ist in keiner Unterhaltung',
  'users.deleteMessages': 'Alle Nachrichten löschen',
  'users.unread': 'Ungelesen',
  'users.sanctions': 'Sanktionen',
  'users.sanctionsCaption': 'Was für den Benutzer im ganzen Chat gilt',
  'users.noSanction': 'Für den Benutzer gilt im ganzen Chat nichts',
  'users.sanctionsElsewhere': 'Was in einer Unterhaltung gilt, steht auf der Seite der Unterhaltung.',
};
