// Does not compile: a request id is not a dataset's name.
#include "base/request_names.h"

const curator::DatasetName kName = curator::RequestId::Parse("3f2504e0-4f89-41d3-9a0c-0305e82c3301").value();
