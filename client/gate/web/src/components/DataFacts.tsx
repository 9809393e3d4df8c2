// What is said for ever about the records of a dataset; nothing where nothing is said.

import { Notice } from "./Notice.tsx";

export interface WithFacts {
  domain_from_records?: boolean;
  rows_from_query?: boolean;
}

export function DataFacts({ of: shown }: { of: WithFacts | undefined }) {
  if (!shown?.domain_from_records && !shown?.rows_from_query) return null;
  return (
    <Notice kind="warn" title="The guarantee does not cover everything here.">
      {shown.domain_from_records && (
        <span>
          Ranges, categories or bins were chosen by somebody who had seen records: the guarantee does not
          cover that choice.
        </span>
      )}
      {shown.rows_from_query && (
        <span>
          The rows came from a query, in which one person may have changed the rows of others: the guarantee
          is about the rows that were imported.
        </span>
      )}
    </Notice>
  );
}
