// The source that the precompiled headers of all tests are made with: main.cpp cannot use them.
