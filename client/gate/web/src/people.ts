// Principals, their credentials and roles, in words.
import type { Credential, GranteeRole, IdentityKind, PrincipalInfo, RoleBinding } from "./api/types.ts";
import { grouped, bytesText } from "./numbers.ts";

export type Role = RoleBinding["role"];

export const ROLES: Record<Role, string> = {
  ROLE_UNSPECIFIED: "unknown",
  ADMINISTRATOR: "administrator",
  APPROVER: "approver",
  OPERATOR: "operator",
  CREATOR: "creator",
  AUDITOR: "auditor",
};

export const GRANTEE_ROLES: Record<GranteeRole, string> = {
  GRANTEE_ROLE_UNSPECIFIED: "unknown",
  ANALYST: "analyst",
  SERVICE: "service",
  AUDITOR: "auditor",
  FORMER: "former user",
  GRANTED_APPROVER: "approver",
};

export const IDENTITY_KINDS: Record<IdentityKind, string> = {
  KIND_UNSPECIFIED: "",
  OIDC: "login",
  CERTIFICATE: "certificate",
  API_TOKEN: "API token",
};

const BASES: Record<string, string> = {
  ADMINISTRATOR: "an administrator added it",
  OWN_PROOF: "added by its principal",
  ISSUER: "the issuer registers its users",
  HOST: "added on the server's host",
};

// "approver of demo", "auditor of all datasets", "administrator"
export function roleWords({ role, dataset }: { role: Role; dataset: string }): string {
  const name = ROLES[role];
  if (role !== "APPROVER" && role !== "AUDITOR") return name;
  return dataset === "" ? `${name} of all datasets` : `${name} of ${dataset}`;
}

export function basisWords(basis: string): string {
  return BASES[basis] ?? "";
}

export function identityKind(credential: Credential): string {
  return IDENTITY_KINDS[(credential.identity?.kind ?? "KIND_UNSPECIFIED") as IdentityKind] ?? "";
}

// Whom the credential names: "7f3a at https://idp.example".
export function identityWords({ identity }: Credential): string {
  if (!identity) return "";
  return identity.kind === "OIDC" ? `${identity.subject} at ${identity.issuer}` : identity.subject;
}

export type CredentialState = "active" | "pending" | "expired";

export function credentialState(credential: Credential, now: number): CredentialState {
  if (credential.expire_time && Date.parse(credential.expire_time) / 1000 <= now) return "expired";
  return credential.pending ? "pending" : "active";
}

// What waits for an administrator.
export type PendingPart =
  | { kind: "credential"; principal: string; by: string; credential: Credential }
  | { kind: "role"; principal: string; by: string; role: RoleBinding };

export function pendingParts(principals: PrincipalInfo[]): PendingPart[] {
  return principals.flatMap((principal): PendingPart[] => [
    ...principal.credentials
      .filter(({ pending }) => pending)
      .map((credential): PendingPart => ({
        kind: "credential",
        principal: principal.name,
        by: credential.added_by,
        credential,
      })),
    ...principal.roles
      .filter(({ pending }) => pending)
      .map((role): PendingPart => ({
        kind: "role",
        principal: principal.name,
        by: role.bound_by,
        role,
      })),
  ]);
}

// Of a quota: "calls_per_second" as "calls per second".
export function quotaWords(name: string): string {
  return name
    .replaceAll("_", " ")
    .replace("cpu", "processor")
    .replace(/ bytes (?=per)/, " ")
    .replace(/ bytes$/, "");
}

export function quotaAmount(name: string, amount: string): string {
  return name.includes("bytes") ? bytesText(Number(amount)) : grouped(amount);
}
