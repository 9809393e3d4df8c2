// What the reasons of failed logins mean (client/gate/sign_in.h), in the words of this page.
const REASONS: Readonly<Record<string, string>> = {
  UNKNOWN_ISSUER: "This dashboard has no such login any more. Choose one of those below.",
  LOGIN_EXPIRED: "The login took longer than ten minutes, or began in another window or browser. Try again.",
  WRONG_CALLBACK: "What came back was not an answer of this identity provider. Try again.",
  REFUSED_BY_ISSUER: "The identity provider did not log you in: you may have cancelled, or may not use this dashboard.",
  ISSUER_UNREACHABLE: "The identity provider does not answer. Try again in a moment.",
  ISSUER_FAULT: "The identity provider is not set up for this dashboard. Tell an administrator: the log has the cause.",
  UNKNOWN_PRINCIPAL: "You are logged in, but nobody is known here under this identity. Ask an administrator to link it.",
  DISABLED: "You are logged in, but this principal is disabled. An administrator can enable it.",
  NOT_ACCEPTED: "The server did not accept this login. Tell an administrator: the log has the cause.",
  SERVER_UNREACHABLE: "You are logged in, but the server does not answer. Try again in a moment.",
  TOO_BUSY: "Too many people are signing in at the moment. Try again later.",
};

// The reason comes from the address, which anybody can write: only known ones are shown.
export function loginErrorText(reason: string): string {
  return Object.hasOwn(REASONS, reason) ? REASONS[reason]! : "The login failed. Try again.";
}

export const LOGIN_ERRORS: readonly string[] = Object.keys(REASONS);
