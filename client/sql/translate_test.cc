#include "client/sql/translate.h"

#include <gmock/gmock.h>
int main() {}
